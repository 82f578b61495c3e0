// Timing of things that can be enqueued, side by side.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "perf/support/cuda.hpp"
#include "perf/support/statistics.hpp"

namespace weft::perf {

// Something to be timed: a function that enqueues one run on buffer set 0, 1, ...
struct Contestant {
  std::function<absl::Status(int set)> enqueue;
  bool graph_a_run = false;  // a graph holds one run, not all of a sample

  // Made by Prepare.
  CudaGraph graph;
  bool graphed = false;  // false: refused; launches go to the stream one by one
  int sets = 0;          // buffer sets
  int runs = 0;          // of `enqueue` in one sample, a multiple of sets
  // Microseconds a run, one value for each sample.
  std::vector<double> samples;
};

class Stopwatch {
 public:
  absl::Status Init();
  cudaStream_t stream() const { return stream_.get(); }

  // Warms up, estimates, and captures a graph of as many rounds over the `sets` buffer sets as take
  // about `target_us` (one at least).
  absl::Status Prepare(Contestant& contestant, int sets, double target_us) const;

  // The runs of one sample; one sample.
  absl::Status Launch(const Contestant& contestant) const;
  absl::Status Sample(Contestant& contestant) const;

  // The median of a few samples of about `target_us`, microseconds.
  absl::StatusOr<double> Short(const std::function<absl::Status(int set)>& enqueue, int sets,
                               double target_us) const;

  // Samples A B C A B C ...: statistics.hpp.
  absl::Status Interleave(const std::vector<Contestant*>& contestants, int rounds,
                          double budget_us) const;

 private:
  CudaStream stream_;
  CudaTimer timer_;
};

}  // namespace weft::perf
