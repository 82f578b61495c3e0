#include "perf/network/timing.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>

#include "perf/support/schedule.hpp"

namespace weft::perf {
namespace {

constexpr double kShortSample = 300.0;  // microseconds of a sample that finds the best tile or plan
constexpr int kShortSamples = 3;
constexpr double kLongSample = 8000.0;  // of a sample of a whole chain
constexpr int kWarmUps = 3;

}  // namespace

absl::Status ChainTimer::Init() {
  if (absl::Status s = watch_.Init(); !s.ok()) return s;
  return timer_.Init();
}

absl::StatusOr<double> ChainTimer::Alone(const std::function<absl::Status()>& enqueue) const {
  Contestant contestant;
  contestant.enqueue = [&](int) { return enqueue(); };
  if (absl::Status s = watch_.Prepare(contestant, 1, kShortSample); !s.ok()) return s;
  for (int i = 0; i < kShortSamples; ++i) {
    if (absl::Status s = watch_.Sample(contestant); !s.ok()) return s;
  }
  return Quantile(contestant.samples, 0.5);
}

absl::Status ChainTimer::Race(int rounds, double budget_us, std::deque<Racer>* racers) const {
  for (Racer& racer : *racers) {
    if (absl::Status s = Prepare(racer); !s.ok()) return s;
  }
  return Interleave(static_cast<int>(racers->size()), rounds, budget_us,
                    [&](int i) { return Sample((*racers)[i]); });
}

absl::Status ChainTimer::Prepare(Racer& racer) const {
  absl::StatusOr<double> time = timer_.Time(stream(), racer.enqueue);  // loads the kernels
  if (!time.ok()) return time.status();
  absl::StatusOr<CudaGraph> graph = CudaGraph::Capture(stream(), racer.enqueue);
  if (!graph.ok()) return graph.status();
  racer.graph = *std::move(graph);
  if (absl::Status s = racer.graph.Upload(stream()); !s.ok()) return s;
  for (int i = 0; i < kWarmUps && time.ok(); ++i) {
    time = timer_.Time(stream(), [&] { return racer.graph.Launch(stream()); });
  }
  if (!time.ok()) return time.status();
  racer.launches = std::max(1, static_cast<int>(kLongSample / *time));
  return absl::OkStatus();
}

absl::StatusOr<double> ChainTimer::Sample(Racer& racer) const {
  const absl::StatusOr<double> time = timer_.Time(stream(), [&] {
    for (int i = 0; i < racer.launches; ++i) {
      if (absl::Status s = racer.graph.Launch(stream()); !s.ok()) return s;
    }
    return absl::OkStatus();
  });
  if (time.ok()) racer.samples.push_back(*time / racer.launches);
  return time;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
