// What is said of a list of measured times.
#pragma once

#include <vector>

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

}  // namespace weft::perf
