// In which order contestants are sampled, and what is said of a list of measured times.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::perf {

struct Summary {
  double median = 0.0;
  double p10 = 0.0;
  double p90 = 0.0;
};

// The value below which a fraction of `values` lies, 0 <= fraction <= 1: linear interpolation
// between the two nearest of the sorted values. 0 for no values.
double Quantile(std::vector<double> values, double fraction);

Summary Summarize(const std::vector<double>& values);

// How far the median of every other value is from the median of the rest, as a fraction of the
// median of all: the same thing measured twice in turns. 0 for fewer than 4 values.
double HalvesDiffer(const std::vector<double>& values);

// The geometric mean of positive values; 0 for none.
double GeometricMean(const std::vector<double>& values);

inline constexpr int kLeastRounds = 5;

// Samples contestants 0, 1, ..., count - 1, 0, 1, ...: `rounds` rounds, but after kLeastRounds no
// further one once the samples took `budget_us` together. All get equally many. `sample` measures
// one contestant once and returns the microseconds that took; its first error ends the schedule.
absl::Status Interleave(int count, int rounds, double budget_us,
                        const std::function<absl::StatusOr<double>(int)>& sample);

}  // namespace weft::perf
