// Whether two matrices of sums are the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "perf/support/json.hpp"
#include "perf/support/parallel.hpp"
#include "weft/gemm/policy/gemm_policy.hpp"

namespace weft::perf {

// Of the largest sum, times sqrt(k): what two ways to add up the products of a policy may differ by. Sums
// of 8-bit floats in tensor cores have about 14 bits, those that are halves 11.
template <class P>
inline constexpr double kTolerance =
    gemm::kHalfSums<P>                                                            ? 1e-3
    : gemm::kTensorFloat<typename P::Element> && sizeof(typename P::Element) == 1 ? 2e-4
                                                                                  : 1e-6;

// What rounding sums to C's elements adds to that.
template <class Output>
inline constexpr double kRounding = std::is_same_v<Output, Half>       ? 0x1p-10
                                    : std::is_same_v<Output, Bfloat16> ? 0x1p-7
                                                                       : 0.0;

// Notes in a row how many differ, and by how much: exactly for int32, beyond the tolerance for float.
template <class P, class Sum>
void CompareSums(const std::vector<Sum>& got, const std::vector<Sum>& want, std::int64_t k,
                 Json* row) {
  struct Found {
    double most = 0, largest = 0;
    long long mismatches = 0;
    void Compare(double x, double y) {
      most = std::max(most, std::abs(y));
      largest = std::max(largest, std::abs(x - y));
      if constexpr (std::is_same_v<Sum, std::int32_t>) {
        mismatches += x != y;
      } else {
        mismatches += !std::isfinite(x) || !std::isfinite(y);
      }
    }
  };
  std::vector<Found> parts(MostParts());
  ForEachPart(static_cast<std::int64_t>(want.size()),
              [&](int part, std::int64_t i, std::int64_t end) {
                Found found;
                for (; i < end; ++i) {
                  if constexpr (gemm::kFloat16<Sum>) {
                    found.Compare(got[i].ToFloat(), want[i].ToFloat());
                  } else if constexpr (kIsComplex<Sum>) {
                    found.Compare(got[i].re, want[i].re), found.Compare(got[i].im, want[i].im);
                  } else {
                    found.Compare(got[i], want[i]);
                  }
                }
                parts[part] = found;
              });
  double most = 0, largest = 0;
  long long mismatches = 0;
  for (const Found& found : parts) {
    most = std::max(most, found.most);
    largest = std::max(largest, found.largest);
    mismatches += found.mismatches;
  }
  largest /= std::max(most, 1e-30);
  const bool near = std::is_same_v<Sum, std::int32_t> ||
                    largest < kTolerance<P> * std::sqrt(static_cast<double>(k)) + kRounding<Sum>;
  // Products of random matrices are not all zero.
  if (mismatches == 0 && (most == 0 || !near)) mismatches = 1;
  (*row)["mismatches"] = mismatches;
  (*row)["largest_difference"] = Rounded(largest, 9);
}

}  // namespace weft::perf
