// Times layers alone and whole chains side by side. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <deque>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/support/cuda.hpp"
#include "perf/support/stopwatch.hpp"

namespace weft::perf {

// A whole chain: what enqueues it, and what Race makes of that.
struct Racer {
  std::function<absl::Status()> enqueue;
  CudaGraph graph;              // of one inference
  int launches = 1;             // of the graph in one sample
  std::vector<double> samples;  // microseconds an inference
};

class ChainTimer {
 public:
  absl::Status Init();
  cudaStream_t stream() const { return watch_.stream(); }

  // Microseconds that one of many runs of a layer takes, from a short measurement.
  absl::StatusOr<double> Alone(const std::function<absl::Status()>& enqueue) const;

  // Captures each racer as one graph and samples A B C A B C ... (schedule.hpp), each sample some
  // launches one after the other.
  absl::Status Race(int rounds, double budget_us, std::deque<Racer>* racers) const;

 private:
  absl::Status Prepare(Racer& racer) const;
  absl::StatusOr<double> Sample(Racer& racer) const;

  Stopwatch watch_;
  CudaTimer timer_;
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
