// The shape of a matrix product, and the checks that need no pointer.
#pragma once

#include <cstdint>
#include <string>

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

// What of a policy the checks need.
struct GemmFormat {
  bool row_major_a = true;
  bool row_major_b = false;
  bool row_major_c = true;
  int element_bytes = 1;  // of A and B
  int output_bytes = 4;
  bool int32_sums = true;
  TileDescription config;
};

// `problem` with its leading dimensions filled in. InvalidArgument for extents that are not
// positive, leading dimensions that are too small or break an alignment, or a k whose int32 sums
// can overflow; OutOfRange where an index of the kernel would overflow: extents above 2^31 - 1025,
// or lines that lie 2^63 bytes apart and more.
absl::StatusOr<GemmProblem> CheckGemmProblem(const GemmProblem& problem, const GemmFormat& format);

// How a checked problem is cut into blocks.
PlanCounts CountTiles(const GemmProblem& problem, const TileDescription& config);

// One line for people: tile, grid, shared memory, layouts.
std::string DescribeGemm(const PlanCounts& counts, const TileFacts& facts);

}  // namespace weft::gemm
