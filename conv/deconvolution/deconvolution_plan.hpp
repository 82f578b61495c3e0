// Plans a transposed convolution as convolutions, one for each phase of the destination.
//
// A phase is the output pixels whose rows and columns leave the same remainders by the stride. They
// meet the same taps of the filter: every (stride / gcd(stride, dilation))-th. So a phase is a
// convolution of stride 1 with a filter of these taps, in reverse order, and the filter falls into
// parts, one of which each phase takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/conv/problem/deconvolution_problem.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::conv {

// The most phases of one operator, which launches a kernel for each.
inline constexpr std::int64_t kMostPhases = 1024;

// OK if the problem describes a transposed convolution. InvalidArgument names the field, its value
// and what would be accepted; OutOfRange says which extents are too large.
absl::Status CheckDeconvolution(const DeconvolutionProblem& problem);

// How a filter falls into parts, which is all that packing depends on.
struct FilterParts {
  FilterExtents whole;  // k, c, r, s
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t dilation_h = 1, dilation_w = 1;  // 1 where r or s is 1

  // Taps of the filter from one tap of a part to its next.
  std::int64_t step_h() const;
  std::int64_t step_w() const;
  // A part begins at each of the first rows() x columns() taps.
  std::int64_t rows() const;
  std::int64_t columns() const;
  // Whether some phases meet no tap: these convolve with a filter of one tap that is zero, the last
  // part.
  bool has_zeros() const;
  std::int64_t count() const { return rows() * columns() + (has_zeros() ? 1 : 0); }
  // The extents of part i, which begins at row i / columns() and column i % columns() of the
  // filter.
  FilterExtents At(std::int64_t i) const;

  friend bool operator==(const FilterParts&, const FilterParts&) = default;
};
FilterParts PartsOf(const DeconvolutionProblem& problem);

// For each part the bytes from the first part to it, and then the bytes of all; multiples of 64.
template <class FilterLayout>
[[gnu::visibility("hidden")]] std::vector<std::int64_t> PartOffsets(const FilterParts& parts) {
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t i = 0; i < parts.count(); ++i) {
    offsets.push_back(offsets.back() + RoundUp(FilterLayout::Size(parts.At(i)), 64));
  }
  return offsets;
}

struct Phase {
  Problem problem;            // a convolution of stride 1
  prologues::PerPhase place;  // where its pixels lie in the destination
  std::int64_t part = 0;      // the number of its filter's part
};

// The phases that have pixels, row by row, of a problem that CheckDeconvolution has accepted.
std::vector<Phase> PhasesOf(const DeconvolutionProblem& problem);

// InvalidArgument if a filter was packed for other parts than `wanted`.
absl::Status CheckParts(const FilterParts& wanted, const FilterParts& packed);

// Adds to an error of a phase's convolution which phase it is.
absl::Status OfPhase(const absl::Status& status, const DeconvolutionProblem& problem,
                     std::int64_t phase);

// For people, such as "4 phases of 1x1, 1x2, 2x1, 2x2 taps".
std::string DescribePhases(const std::vector<Phase>& phases);

}  // namespace weft::conv
