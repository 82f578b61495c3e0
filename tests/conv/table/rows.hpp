// What a row of operators.def becomes in a test program: a policy of that name and a test that runs it. A
// program defines the macros of the rows that it wants as TABLE_ROW, and includes operators.def.
#pragma once

#include <gtest/gtest.h>

#include "tests/conv/table/check.hpp"
#include "tests/conv/table/policies.hpp"

#define TABLE_OPERATOR(name, ...)                           \
  struct name : __VA_ARGS__ {};                             \
  TEST(ConvolutionTable, name) {                            \
    ::weft::conv::table::ExpectExactOnEveryProblem<name>(); \
  }
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
#define TABLE_values TABLE_OPERATOR
#endif
#define TABLE_races TABLE_OPERATOR

#define TABLE_ROW(build, ...) TABLE_##build(__VA_ARGS__)
