// What a row of operators.def becomes in a test program: a policy of that name and a test that runs it. A
// program defines the macros of the rows that it wants as TABLE_ROW, and includes operators.def.
#pragma once

#include <gtest/gtest.h>

#include "tests/conv/table/check.hpp"
#include "tests/conv/table/policies.hpp"

namespace weft::conv::table {

// A GPU has all problems for each row.
#if defined(WEFT_CUDA_BACKEND)
inline constexpr Rows kRowsOfValues = Rows::kPairwise;
#else
inline constexpr Rows kRowsOfValues = Rows::kEachTwice;
#endif

}  // namespace weft::conv::table

#define TABLE_OPERATOR_ON(rows, name, ...)                      \
  struct name : __VA_ARGS__ {};                                 \
  TEST(ConvolutionTable, name) {                                \
    ::weft::conv::table::ExpectExactOnEveryProblem<name>(rows); \
  }
#define TABLE_OPERATOR(...) TABLE_OPERATOR_ON(Rows::kPairwise, __VA_ARGS__)
#define TABLE_OPERATOR_OF_VALUES(...) TABLE_OPERATOR_ON(kRowsOfValues, __VA_ARGS__)
#define TABLE_NO_OPERATOR(...)

// Builds that a row is a part of, besides the ordinary ones: those of both sanitizers, of AddressSanitizer and of the
// kernels alone (tests/kinds.hpp), of none.
#if defined(__SANITIZE_THREAD__)
#define TABLE_memory TABLE_NO_OPERATOR
#define TABLE_values TABLE_NO_OPERATOR
#elif defined(__SANITIZE_ADDRESS__) || defined(WEFT_KERNELS_ALONE)
#define TABLE_memory TABLE_OPERATOR
#define TABLE_values TABLE_NO_OPERATOR
#else
#define TABLE_memory TABLE_OPERATOR
#define TABLE_values TABLE_OPERATOR_OF_VALUES
#endif
#define TABLE_races TABLE_OPERATOR

#define TABLE_ROW(build, ...) TABLE_##build(__VA_ARGS__)
