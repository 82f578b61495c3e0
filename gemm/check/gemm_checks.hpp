// The shape of a matrix product, and the checks that need no pointer.
#pragma once

#include <cstdint>

#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// C (m x n) = A (m x k) B (k x n). Leading dimensions count elements; 0 means densely packed. Every
// line of a matrix has its full pitch in memory, the last one too.
struct GemmProblem {
  static constexpr std::int64_t kPacked = -1;

  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  // Products of one launch, which have these extents and leading dimensions in common. Of policies
  // Grouped<P> (gemm/policy/gemm_policy.hpp): the groups, which share the m rows.
  std::int64_t batch = 1;
  // Elements from the A, B and C of one product to those of the next. kPacked: where all lines of the
  // one end. 0: all products have the same A (B). The Cs have no element in common: either one's first
  // line follows the other's last, or they are blocks of columns (rows) of one larger matrix and all of
  // them fit in ldc, as the heads of an attention layer do. Those of Grouped stay kPacked but for B's;
  // those of a batch of one are not looked at.
  std::int64_t stride_a = kPacked;
  std::int64_t stride_b = kPacked;
  std::int64_t stride_c = kPacked;
  // Whether each product has a bias, a channel_alpha and channel values of its own: batch x n of them.
  // If not, all products have the same n.
  bool own_bias = false;

  // Whether no C has an element: there is nothing to do. With k = 0 there is: C is the epilogue of 0.
  constexpr bool IsEmpty() const { return m == 0 || n == 0 || batch == 0; }
};

// InvalidArgument for extents that are negative, OutOfRange for those above 2^31 - 1025.
absl::Status CheckExtents(const GemmProblem& problem);

// `problem` with its leading dimensions and strides filled in. As CheckExtents; InvalidArgument for
// leading dimensions and strides that are too small or break an alignment, or a k whose int32 sums can
// overflow; OutOfRange where an index of the kernel would overflow: elements that lie 2^63 bytes apart
// and more.
absl::StatusOr<GemmProblem> CheckGemmProblem(const GemmProblem& problem, const GemmFacts& facts);

// Of Grouped: InvalidArgument unless `group_offsets` are problem.batch numbers that ascend from 0
// or more to problem.m at most.
absl::Status CheckGroupOffsets(const GemmProblem& problem,
                               absl::Span<const std::int32_t> group_offsets);

}  // namespace weft::gemm
