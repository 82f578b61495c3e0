#include "perf/support/stopwatch.hpp"

#include <algorithm>
#include <cmath>

namespace weft::perf {
namespace {

constexpr int kMostRuns = 2048;  // nodes of a graph
constexpr int kShortSamples = 3;

absl::Status Enqueue(const Contestant& c, int runs) {
  for (int i = 0; i < runs; ++i) WEFT_TRY(c.enqueue(i % c.sets));
  return absl::OkStatus();
}

}  // namespace

absl::Status Stopwatch::Init() {
  WEFT_TRY(stream_.Init());
  return timer_.Init();
}

absl::Status Stopwatch::Prepare(Contestant& c, int sets, double target_us) const {
  c.sets = sets;
  // The first run loads the kernel.
  WEFT_TRY(timer_.Time(stream(), [&] { return Enqueue(c, 1); }).status());
  const int few = std::min(sets, 8);
  WEFT_LET(const double time, timer_.Time(stream(), [&] { return Enqueue(c, few); }));
  const double rounds = std::max(1.0, std::round(target_us / (time / few * sets)));
  c.runs = static_cast<int>(std::min<double>(rounds, std::max(1, kMostRuns / sets))) * sets;
  absl::StatusOr<CudaGraph> graph =
      CudaGraph::Capture(stream(), [&] { return Enqueue(c, c.graph_a_run ? 1 : c.runs); });
  c.graphed = graph.ok();
  if (c.graphed) c.graph = *std::move(graph);
  WEFT_TRY(Launch(c));  // warm-up
  return stream_.Synchronize();
}

absl::Status Stopwatch::Launch(const Contestant& c) const {
  if (!c.graphed) return Enqueue(c, c.runs);
  for (int i = 0; i < (c.graph_a_run ? c.runs : 1); ++i) WEFT_TRY(c.graph.Launch(stream()));
  return absl::OkStatus();
}

absl::Status Stopwatch::Sample(Contestant& c) const {
  WEFT_LET(const double time, timer_.Time(stream(), [&] { return Launch(c); }));
  c.samples.push_back(time / c.runs);
  return absl::OkStatus();
}

absl::StatusOr<double> Stopwatch::Short(const std::function<absl::Status(int set)>& enqueue,
                                        int sets, double target_us) const {
  Contestant contestant;
  contestant.enqueue = enqueue;
  WEFT_TRY(Prepare(contestant, sets, target_us));
  for (int i = 0; i < kShortSamples; ++i) WEFT_TRY(Sample(contestant));
  return Quantile(contestant.samples, 0.5);
}

absl::Status Stopwatch::Interleave(const std::vector<Contestant*>& contestants, int rounds,
                                   double budget_us) const {
  return perf::Interleave(static_cast<int>(contestants.size()), rounds, budget_us,
                          [&](int i) -> absl::StatusOr<double> {
                            Contestant& c = *contestants[i];
                            WEFT_TRY(Sample(c));
                            return c.samples.back() * c.runs;
                          });
}

}  // namespace weft::perf
