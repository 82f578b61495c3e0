// What the tests of gemm/arch share: the ways to run a kernel, and which sanitizer is watching.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/gemm/arch/noise.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_TEST_ASAN 1
#else
#define WEFT_TEST_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__)
#define WEFT_TEST_TSAN 1
#else
#define WEFT_TEST_TSAN 0
#endif

namespace weft::arch {

// For GoogleTest's messages.
inline void PrintTo(const CpuOptions& options, std::ostream* out) {
  static const char* const kSchedules[] = {"forward", "reverse", "priority", "random"};
  *out << (options.copies == Copies::kEager ? "eager, " : "deferred, ")
       << kSchedules[static_cast<int>(options.schedule)] << ", seed " << options.seed << ", "
       << options.workers << " workers";
}

namespace testing {

// A schedule under the seeds that it depends on.
inline std::vector<CpuOptions> Seeds(Copies copies, Schedule schedule) {
  const bool uses_seed = schedule == Schedule::kPriority || schedule == Schedule::kRandom;
  std::vector<CpuOptions> options;
  for (uint64_t seed = 1; seed <= (uses_seed ? 8u : 1u); ++seed) {
    options.push_back({.copies = copies, .schedule = schedule, .seed = seed});
  }
  return options;
}

// Every way a correct kernel has to survive.
inline std::vector<CpuOptions> AllSchedules() {
  std::vector<CpuOptions> all;
  for (const Copies copies : {Copies::kDeferred, Copies::kEager}) {
    for (const Schedule schedule :
         {Schedule::kForward, Schedule::kReverse, Schedule::kPriority, Schedule::kRandom}) {
      for (const CpuOptions& options : Seeds(copies, schedule)) all.push_back(options);
    }
  }
  return all;
}

}  // namespace testing
}  // namespace weft::arch
