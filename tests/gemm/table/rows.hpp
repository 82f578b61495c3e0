// What a row of operators.def becomes in a test program: a policy of that name and a test that runs it. A
// program defines the macros of the rows that it wants as TABLE_ROW, and includes operators.def.
#pragma once

#include <gtest/gtest.h>

#include "tests/gemm/table/check.hpp"
#include "tests/gemm/table/policies.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm::table {

// A GPU has all problems for each row; a CPU for those whose mainloop, pipeline or epilogue no other has.
#if defined(WEFT_CUDA_BACKEND)
inline constexpr Rows kRowsOfOthers = Rows::kPairwise;
#elif WEFT_ONE_OF_EACH_KIND
inline constexpr Rows kRowsOfOthers = Rows::kEachOnce;
#else
inline constexpr Rows kRowsOfOthers = Rows::kEachTwice;
#endif

}  // namespace weft::gemm::table

#define TABLE_PRODUCT_ON(rows, form, name, ...)         \
  struct name : __VA_ARGS__ {};                         \
  TEST(ProductTable, name) {                            \
    ::weft::gemm::table::ExpectEvery##form<name>(rows); \
  }
#define TABLE_PRODUCT(...) TABLE_PRODUCT_ON(Rows::kPairwise, __VA_ARGS__)
#define TABLE_OTHER_PRODUCT(...) TABLE_PRODUCT_ON(kRowsOfOthers, __VA_ARGS__)
#define TABLE_NO_PRODUCT(...)

// Builds that a row is a part of, besides the ordinary ones: those of both sanitizers, of AddressSanitizer and of the
// kernels alone (tests/kinds.hpp), of none.
#if defined(__SANITIZE_THREAD__)
#define TABLE_races TABLE_OTHER_PRODUCT
#define TABLE_memory TABLE_NO_PRODUCT
#define TABLE_values TABLE_NO_PRODUCT
#elif defined(__SANITIZE_ADDRESS__) || defined(WEFT_KERNELS_ALONE)
#define TABLE_races TABLE_OTHER_PRODUCT
#define TABLE_memory TABLE_OTHER_PRODUCT
#define TABLE_values TABLE_NO_PRODUCT
#else
#define TABLE_races TABLE_PRODUCT
#define TABLE_memory TABLE_OTHER_PRODUCT
#define TABLE_values TABLE_OTHER_PRODUCT
#endif

#define TABLE_ROW(build, ...) TABLE_##build(__VA_ARGS__)
