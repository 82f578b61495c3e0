#include "perf/support/statistics.hpp"

#include <algorithm>
#include <cmath>

#include <cstddef>
#include "perf/support/status.hpp"

namespace weft::perf {

double Quantile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  const double position = fraction * static_cast<double>(values.size() - 1);
  const std::size_t below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

Summary Summarize(const std::vector<double>& values) {
  return {Quantile(values, 0.5), Quantile(values, 0.1), Quantile(values, 0.9)};
}

double HalvesDiffer(const std::vector<double>& values) {
  if (values.size() < 4) return 0.0;
  std::vector<double> halves[2];
  for (std::size_t i = 0; i < values.size(); ++i) halves[i % 2].push_back(values[i]);
  const double all = Quantile(values, 0.5);
  if (all <= 0.0) return 0.0;
  return std::abs(Quantile(halves[0], 0.5) - Quantile(halves[1], 0.5)) / all;
}

double GeometricMean(const std::vector<double>& values) {
  if (values.empty()) return 0.0;
  double sum = 0.0;
  for (double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

absl::Status Interleave(int count, int rounds, double budget_us,
                        const std::function<absl::StatusOr<double>(int)>& sample) {
  double spent = 0.0;
  for (int round = 0; round < rounds && (round < kLeastRounds || spent <= budget_us); ++round) {
    for (int i = 0; i < count; ++i) {
      WEFT_LET(const double took, sample(i));
      spent += took;
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::perf
