// The run-time half of the table of products: the problems that every operator of operators.def runs.
//
// They are made of the lists below and of an operator's facts: of its tile, at whose edges extents lie, and of its accesses,
// of which leading dimensions are multiples. Every two values meet in a problem (of most operators on a CPU each value is
// in two). Extents of 0, beside which nothing else would be tested,
// have problems of their own, in which they meet each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/pairwise.hpp"
#include "weft/gemm/check/gemm_checks.hpp"
#include "weft/gemm/policy/facts.hpp"

namespace weft::gemm::table {

// How the matrices of a batch lie in memory: one behind the other, with or without padding; with one A for all
// products, and gaps between the others; with one B, and each C a block of columns (rows) of a larger matrix, as
// those of heads are; with As that share elements.
enum class Placement { kDense, kPadded, kOneA, kBlocksOfC, kWindows };
struct Batch {
  std::int64_t count;
  Placement placement;
  bool own_bias;
};
// The first two are also those of the products of a list.
inline constexpr Batch kBatches[] = {
    {1, Placement::kDense, false},     {1, Placement::kPadded, true},
    {3, Placement::kDense, true},      {2, Placement::kOneA, true},
    {3, Placement::kBlocksOfC, false}, {2, Placement::kWindows, false},
};

// The rows of the groups of a Grouped product: all in one group; some groups without rows, at the begin, at the end, and
// all of them; rows behind the last group, which belong to none; more groups than one tile has rows of.
enum class Groups { kOne, kFirstEmpty, kLastEmpty, kAllEmpty, kRowsOfNone, kMany };
inline constexpr Groups kGroups[] = {Groups::kOne,      Groups::kFirstEmpty, Groups::kLastEmpty,
                                     Groups::kAllEmpty, Groups::kRowsOfNone, Groups::kMany};

// exact: operands are integers whose sums no type rounds; else they have many binades. in_place: where an epilogue adds a residual
// of C's type, C is that residual.
struct Values {
  bool exact, in_place;
};
inline constexpr Values kValues[] = {{true, false}, {false, true}};

// A product that an operator must accept.
struct Problem {
  GemmProblem product;
  std::vector<std::int32_t> group_offsets;  // of a Grouped one
  Values values;
};
std::string ToString(const Problem& problem);

// Those of an operator with these facts.
std::vector<Problem> ProblemsFor(const GemmFacts& facts, Rows rows = Rows::kPairwise);

// One that reaches a little past one tile each way.
Problem PastOneTile(const GemmFacts& facts);

// Those of ProblemsFor as lists of one, two and more products, and one of products without tiles.
std::vector<std::vector<Problem>> ListsFor(const GemmFacts& facts, Rows rows = Rows::kPairwise);

}  // namespace weft::gemm::table
