// Times of the steps on the GPU at hand, and of cuBLASLt.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/support/json.hpp"

namespace ladder {

struct Time {
  double us = 0;
  std::int64_t mismatches = 0;  // sums that differ from cuBLASLt's
  std::string why_not;          // there is no time
};
struct Times {
  std::vector<Time> steps;
  double peer_us = 0;
  std::string peer;  // what cuBLASLt is and which of its algorithms was the fastest
};

// Describes the GPU. Unavailable if there is none, or the build has no CUDA or no cuBLASLt.
class Clock {
 public:
  static absl::StatusOr<Clock> Create();
  Clock(Clock&&) noexcept;
  ~Clock();

  weft::perf::Json environment() const;
  // Of products size^3, all steps and the fastest algorithm of cuBLASLt's heuristic in turns; without those
  // that would take longer than `most_us` a run, going by the last size that they were measured at.
  absl::StatusOr<Times> Measure(int size, double most_us);

 private:
  struct State;
  explicit Clock(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ladder
