// In which order contestants are sampled.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::perf {

inline constexpr int kLeastRounds = 5;

// Samples contestants 0, 1, ..., count - 1, 0, 1, ...: `rounds` rounds, but after kLeastRounds no
// further one once the samples took `budget_us` together. All get equally many. `sample` measures
// one contestant once and returns the microseconds that took; its first error ends the schedule.
absl::Status Interleave(int count, int rounds, double budget_us,
                        const std::function<absl::StatusOr<double>(int)>& sample);

}  // namespace weft::perf
