// EXPECT_RACE(run, where): ThreadSanitizer reports a race in `run`, and `where` stands in the report.
// Include it in one file of a program.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/gemm/arch/harness.hpp"

#if WEFT_TEST_TSAN

// Without this each process with a report sleeps for a second before it ends.
extern "C" inline const char* __tsan_default_options() {
  return "atexit_sleep_ms=0";
}

// Runs in a child process, which ends by exit(): that is where TSan turns reports into an exit
// code, 66.
#define EXPECT_RACE(run, where)                                             \
  do {                                                                      \
    GTEST_FLAG_SET(death_test_style, "threadsafe");                         \
    EXPECT_EXIT(((void)(run), std::exit(0)), ::testing::ExitedWithCode(66), \
                "ThreadSanitizer: data race" where);                        \
  } while (false)

#endif
