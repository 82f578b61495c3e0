// Golden vectors of the primitives of sm_90 (see golden_cases.hpp for what they are). One file
// holds a group: `in` are the digests of what each case was given, `out` those of what it gave, so
// that a changed case is told from a changed answer. Their kernels are those of hopper_test and wgmma_test, which
// have the cases. To make the files, on an H100 or H200:
//
//     WEFT_GOLDEN_WRITE=tests/gemm/arch/golden gpu_gemm_arch_hopper_test (and gpu_gemm_arch_wgmma_test)
//
// Files that are still to be made stand in kAwaitingSilicon: their cases run, every way of running
// them has to agree, and the test is skipped, not passed, as there is nothing to compare with. A file
// that is not there and not in that list is a failure.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/gemm/arch/golden_run.hpp"

namespace weft::arch::testing {

inline constexpr std::array<const char*, 0> kAwaitingSilicon = {};

// What a group of cases was given and gave.
struct Recorded {
  std::vector<uint32_t> in;
  std::vector<uint32_t> out;
};

// Sixteen digests of words, each of an equal share of them.
inline void AddDigests(const std::vector<uint32_t>& words, std::vector<uint32_t>* digests) {
  constexpr size_t kShares = 16;
  for (size_t share = 0; share < kShares; ++share) {
    uint32_t digest = 0x811C9DC5u;
    for (size_t i = share * words.size() / kShares; i < (share + 1) * words.size() / kShares; ++i) {
      digest = (digest ^ words[i]) * 0x01000193u;
      digest ^= digest >> 15;
    }
    digests->push_back(digest);
  }
}

// Every way of running gives the same; that is recorded.
inline void Record(const std::vector<uint32_t>& in, const std::vector<std::vector<uint32_t>>& outs,
                   Recorded* recorded) {
  AddDigests(in, &recorded->in);
  for (const auto& out : outs) EXPECT_EQ(out, outs.front());
  AddDigests(outs.front(), &recorded->out);
}

inline void CompareOrWrite(const std::string& name, const Recorded& recorded,
                           [[maybe_unused]] const char* source) {
  const bool awaiting = std::find(std::begin(kAwaitingSilicon), std::end(kAwaitingSilicon), name) !=
                        std::end(kAwaitingSilicon);
  const std::filesystem::path path = GoldenPath(GoldenFolder(), name);
#if defined(WEFT_CUDA_BACKEND)
  if (const char* folder = std::getenv("WEFT_GOLDEN_WRITE")) {
    GoldenFile golden = DescribeMachine();
    golden.in = recorded.in;
    golden.out = recorded.out;
    ASSERT_TRUE(WriteGolden(GoldenPath(folder, name), name, golden, source))
        << GoldenPath(folder, name);
    return;
  }
#endif
  if (!std::filesystem::exists(path)) {
    ASSERT_TRUE(awaiting) << path << " is missing";
    GTEST_SKIP() << path
                 << " awaits silicon, so nothing was compared; record it on an H100 or H200 "
                 << "with WEFT_GOLDEN_WRITE";
  }
  EXPECT_FALSE(awaiting) << path << " exists: take " << name << " off kAwaitingSilicon";
  const GoldenFile golden = ReadGolden(path);
  ASSERT_FALSE(golden.device.empty() || golden.driver.empty()) << path << " is not a golden file";
  ASSERT_EQ(golden.in, recorded.in) << "the cases are not those of the file";
  EXPECT_EQ(golden.out, recorded.out);
}

}  // namespace weft::arch::testing
