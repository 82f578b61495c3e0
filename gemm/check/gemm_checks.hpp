// The shape of a matrix product, and the checks that need no pointer.
#pragma once

#include <cstdint>

#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// C (m x n) = A (m x k) B (k x n). Leading dimensions count elements; 0 means densely packed. Every
// row of a row-major matrix (column of a column-major one) takes its full leading dimension in
// memory, the last one too.
struct GemmProblem {
  static constexpr std::int64_t kPacked = -1;

  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  // The number of products of the launch, which have these extents and leading dimensions in
  // common. With a policy Grouped<P> (gemm/policy/gemm_policy.hpp): of the groups, which share the
  // m rows.
  std::int64_t batch = 1;
  // Elements from the A, B and C of one product to those of the next. kPacked: the next matrix
  // begins where this one ends. 0, for A and B only: all products have the same A (B). No two Cs
  // may have an element in common: either one begins behind the other's last element, or they are
  // blocks of columns (of rows, if C is column-major) of one larger matrix, side by side within
  // ldc, as the heads of an attention layer are. With Grouped only stride_b may differ from
  // kPacked. Strides of a batch of one are ignored.
  std::int64_t stride_a = kPacked;
  std::int64_t stride_b = kPacked;
  std::int64_t stride_c = kPacked;
  // Whether each product has its own biases, channel_alpha and channel values, batch x n of each.
  // If not, all products share the same n.
  bool own_bias = false;

  // Whether no C has an element, so that there is nothing to do. k = 0 is not empty: C is then what
  // the epilogue makes of accumulators of 0.
  constexpr bool IsEmpty() const { return m == 0 || n == 0 || batch == 0; }
};

// InvalidArgument for extents that are negative, OutOfRange for those above 2^31 - 1025.
absl::Status CheckExtents(const GemmProblem& problem);

// `problem` with its leading dimensions and strides filled in. The errors are those of
// CheckExtents; InvalidArgument for leading dimensions and strides that are too small or break an
// alignment, and for a k whose int32 accumulators can overflow; OutOfRange where an index of the
// kernel would overflow or two elements lie 2^63 bytes apart or more.
absl::StatusOr<GemmProblem> CheckGemmProblem(const GemmProblem& problem, const GemmFacts& facts);

// For Grouped: InvalidArgument unless `group_offsets` are problem.batch numbers between 0 and
// problem.m of which none is less than the one before.
absl::Status CheckGroupOffsets(const GemmProblem& problem,
                               absl::Span<const std::int32_t> group_offsets);

}  // namespace weft::gemm
