#include "perf/support/stopwatch.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <cmath>

#include "perf/support/schedule.hpp"

namespace weft::perf {
namespace {

constexpr int kMostRuns = 2048;  // nodes of a graph

absl::Status Enqueue(const Contestant& c, int runs) {
  for (int i = 0; i < runs; ++i) {
    if (absl::Status s = c.enqueue(i % c.sets); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Stopwatch::Prepare(Contestant& c, int sets, double target_us) const {
  c.sets = sets;
  // The first run loads the kernel.
  if (absl::StatusOr<double> t = timer_.Time(stream(), [&] { return Enqueue(c, 1); }); !t.ok())
    return t.status();
  const int few = std::min(sets, 8);
  const absl::StatusOr<double> time = timer_.Time(stream(), [&] { return Enqueue(c, few); });
  if (!time.ok()) return time.status();
  c.estimate_us = *time / few;
  const double rounds = std::max(1.0, std::round(target_us / (c.estimate_us * sets)));
  c.runs = static_cast<int>(std::min<double>(rounds, std::max(1, kMostRuns / sets))) * sets;
  if (c.want_graph) {
    absl::StatusOr<CudaGraph> graph =
        CudaGraph::Capture(stream(), [&] { return Enqueue(c, c.runs); });
    c.graphed = graph.ok();
    if (c.graphed) {
      c.graph = std::move(*graph);
      if (absl::Status s = c.graph.Upload(stream()); !s.ok()) return s;
    }
  }
  if (absl::Status s = Launch(c); !s.ok()) return s;  // warm-up
  return stream_.Synchronize();
}

absl::Status Stopwatch::Launch(const Contestant& c) const {
  if (c.graphed) return c.graph.Launch(stream());
  return Enqueue(c, c.runs);
}

absl::Status Stopwatch::Sample(Contestant& c) const {
  const absl::StatusOr<double> time = timer_.Time(stream(), [&] { return Launch(c); });
  if (!time.ok()) return time.status();
  c.samples.push_back(*time / c.runs);
  return absl::OkStatus();
}

absl::Status Stopwatch::Interleave(const std::vector<Contestant*>& contestants, int rounds,
                                   double budget_us) const {
  return perf::Interleave(static_cast<int>(contestants.size()), rounds, budget_us,
                          [&](int i) -> absl::StatusOr<double> {
                            Contestant& c = *contestants[i];
                            if (absl::Status s = Sample(c); !s.ok()) return s;
                            return c.samples.back() * c.runs;
                          });
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
