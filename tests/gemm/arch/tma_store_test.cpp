// Stores of TMA on the CPU, under every schedule, and what a kernel may get wrong about them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "tests/gemm/arch/expect_race.hpp"
#include "tests/gemm/arch/harness.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"

namespace weft::arch::testing {
namespace {

enum class StoreBug { kNone, kNoFence, kNoWait, kNoCommit, kNoLastWait };

constexpr int kWords = 64, kRounds = 3, kKept = 56;

// Each of some rounds stages 64 words in the same place, which one thread stores as a row of dst, whose
// rows have 56: the others are left out.
template <StoreBug kBug>
struct StoreKernel {
  static constexpr int kThreads = kWords;
  static constexpr Requires kRequires{.min = 90};
  struct Params {
    TensorMap dst;
  };
  struct SharedStorage {
    alignas(128) uint32_t value[kWords];
  };

  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    for (int round = 0; round < kRounds; ++round) {
      if (t.tid() == 0 && kBug != StoreBug::kNoWait) t.TmaStoreWaitRead<0>();
      t.SyncThreads();
      t.StoreShared(&shared.value[t.tid()], static_cast<uint32_t>(100 * round + t.tid()));
      if (kBug != StoreBug::kNoFence) t.FenceProxyAsync();
      t.SyncThreads();
      if (t.tid() == 0) {
        t.TmaStore(p.dst, t.SharedAddress(shared.value), {0, round, 0, 0});
        if (kBug != StoreBug::kNoCommit) t.TmaStoreCommit();
      }
    }
    if (kBug != StoreBug::kNoLastWait) t.TmaStoreWaitRead<0>();
  }
};

// The error, or "wrong" for wrong values.
template <StoreBug kBug>
std::string Outcome(const CpuOptions& options) {
  alignas(16) static uint32_t dst[kRounds * kKept];
  std::fill(std::begin(dst), std::end(dst), 0xDEADu);
  const TensorMapSpec spec = {.base = dst,
                              .stride = {sizeof(dst) / kRounds, sizeof(dst), sizeof(dst)},
                              .dim = {kKept, kRounds, 1, 1},
                              .rank = 4,
                              .element_bytes = 4,
                              .box = {kWords, 1, 1, 1}};
  EXPECT_EQ(TensorMapFault(spec), nullptr);
  const std::string error =
      LaunchOnCpu<StoreKernel<kBug>>({1}, {CpuTensorMap(spec)}, options).error;
  if (!error.empty()) return error;
  for (uint32_t i = 0; i < std::size(dst); ++i) {
    if (dst[i] != 100 * (i / kKept) + i % kKept) return "wrong";
  }
  return "";
}

template <StoreBug kBug>
void Expect(const std::string& text) {
  for (const CpuOptions& options : AllSchedules()) {
    if (kBug != StoreBug::kNone && options.copies != Copies::kDeferred) continue;
    SCOPED_TRACE(::testing::PrintToString(options));
    const std::string outcome = Outcome<kBug>(options);
    EXPECT_EQ(outcome.substr(0, text.empty() ? std::string::npos : text.size()), text);
  }
}

TEST(TmaStore, EverySchedule) {
  Expect<StoreBug::kNone>("");
}
TEST(TmaStore, StagedWithoutAFence) {
  Expect<StoreBug::kNoFence>("wrong");
}
// Each staging overwrites what the store before it has still to read.
TEST(TmaStore, StagedWhileTheLastRoundIsRead) {
#if WEFT_TEST_TSAN
  EXPECT_RACE(Expect<StoreBug::kNoWait>("wrong"), "");
#else
  Expect<StoreBug::kNoWait>("wrong");
#endif
}
TEST(TmaStore, NotCommitted) {
  Expect<StoreBug::kNoCommit>(
      "TMA: a lane returned from the kernel before its store had been read");
}
TEST(TmaStore, ReturnedTooEarly) {
  Expect<StoreBug::kNoLastWait>(
      "TMA: a lane returned from the kernel before its store had been read");
}

}  // namespace
}  // namespace weft::arch::testing
