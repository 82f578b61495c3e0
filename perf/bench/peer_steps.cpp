#include "perf/bench/peer_steps.hpp"

#include "absl/strings/match.h"

namespace weft::perf {

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

}  // namespace weft::perf
