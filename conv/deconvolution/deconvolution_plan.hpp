// A transposed convolution as convolutions: one for each phase of the destination.
//
// Output pixels whose rows and columns leave the same remainders by the stride, a phase, meet the
// same taps of the filter: every (stride / gcd(stride, dilation))-th. So a phase is a convolution of
// stride 1 with a filter of these taps, in reverse, and the filter falls into parts, of which each
// phase takes one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/conv/problem/deconvolution_problem.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::conv {

// Phases of one operator, which has a launch for each.
inline constexpr std::int64_t kMostPhases = 1024;

// OK if the problem describes a transposed convolution. InvalidArgument names the field, its value
// and what would be accepted; OutOfRange where extents are too large.
absl::Status CheckDeconvolution(const DeconvolutionProblem& problem);

// How a filter falls into parts: all that packing depends on.
struct FilterParts {
  FilterExtents whole;  // k, c, r, s
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t dilation_h = 1, dilation_w = 1;  // 1 where r or s is

  // From a tap of a part to its next.
  std::int64_t step_h() const;
  std::int64_t step_w() const;
  // Parts begin at each of the first taps.
  std::int64_t rows() const;
  std::int64_t columns() const;
  // Whether some phases meet no tap: they convolve with one of zeros, the last part.
  bool has_zeros() const;
  std::int64_t count() const { return rows() * columns() + (has_zeros() ? 1 : 0); }
  // Part i is number i / columns() from the top and i % columns() from the left.
  FilterExtents At(std::int64_t i) const;

  friend bool operator==(const FilterParts&, const FilterParts&) = default;
};
FilterParts PartsOf(const DeconvolutionProblem& problem);

// Bytes from the first part to each of them, and to the end; multiples of 64.
template <class FilterLayout>
[[gnu::visibility("hidden")]] std::vector<std::int64_t> PartOffsets(const FilterParts& parts) {
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t i = 0; i < parts.count(); ++i) {
    offsets.push_back(offsets.back() + RoundUp(FilterLayout::Size(parts.At(i)), 64));
  }
  return offsets;
}

struct Phase {
  Problem problem;            // the convolution
  prologues::PerPhase place;  // its pixels in the destination
  std::int64_t part = 0;      // its filter
};

// Of a checked problem: those that have pixels, row by row.
std::vector<Phase> PhasesOf(const DeconvolutionProblem& problem);

// InvalidArgument if a filter was packed for other parts than `wanted`.
absl::Status CheckParts(const FilterParts& wanted, const FilterParts& packed);

// What a phase's convolution says, and which one said it.
absl::Status OfPhase(const absl::Status& status, const DeconvolutionProblem& problem,
                     std::int64_t phase);

// "4 phases of 1x1, 1x2, 2x1, 2x2 taps"
std::string DescribePhases(const std::vector<Phase>& phases);

}  // namespace weft::conv
