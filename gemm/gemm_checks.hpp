// The shape of a matrix product, and the checks that need no pointer.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/gemm/facts.hpp"

namespace weft::gemm {

// C (m x n) = A (m x k) B (k x n). Leading dimensions count elements; 0 means densely packed. Every
// line of a matrix has its full pitch in memory, the last one too.
struct GemmProblem {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
};

// InvalidArgument for extents that are not positive, OutOfRange for those above 2^31 - 1025.
absl::Status CheckExtents(const GemmProblem& problem);

// `problem` with its leading dimensions filled in. As CheckExtents; InvalidArgument for leading
// dimensions that are too small or break an alignment, or a k whose int32 sums can overflow;
// OutOfRange where an index of the kernel would overflow: lines that lie 2^63 bytes apart and more.
absl::StatusOr<GemmProblem> CheckGemmProblem(const GemmProblem& problem, const TileFacts& facts);

}  // namespace weft::gemm
