#include "perf/bench/peer_steps.hpp"

#include "absl/strings/match.h"

namespace weft::perf {
namespace {

// Microseconds: what takes so long can fill the tensor cores until the GPU's power is limited, and
// how long that takes.
constexpr double kHotRun = 40.0, kHotSample = 50e3;
constexpr double kNearBest = 1.15;

}  // namespace

PeerOptions OptionsFor(const std::string& name, const Measuring& measuring,
                       const std::string& chosen, int threads) {
  PeerOptions options;
  const std::string prefix = name + "/";
  options.build_threads = measuring.skip.empty() ? threads : 1;
  options.about_to = [about = measuring.about, prefix](const std::string& what) {
    about(prefix + what);
  };
  for (const std::string& each : measuring.skip) {
    if (absl::StartsWith(each, prefix)) options.skip.insert(each.substr(prefix.size()));
  }
  options.only = chosen;
  return options;
}

absl::StatusOr<double> TimeOf(Peer& peer, int variant, const Stopwatch& watch, int sets,
                              double sample_us, double best_us) {
  const auto time = [&](double of_sample_us) {
    return watch.Short([&](int set) { return peer.Enqueue(variant, set, watch.stream()); }, sets,
                       of_sample_us);
  };
  WEFT_LET(const double us, time(sample_us));
  if (us < kHotRun || (best_us >= 0.0 && us > kNearBest * best_us)) return us;
  return time(kHotSample);
}

}  // namespace weft::perf
