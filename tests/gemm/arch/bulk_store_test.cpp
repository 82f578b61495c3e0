// Bulk stores on the CPU, under every schedule, and what a kernel may get wrong about them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "tests/gemm/arch/harness.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"

namespace weft::arch::testing {
namespace {

enum class StoreBug { kNone, kNoFence, kNoWait, kNoCommit, kNoLastWait };

// Each of some rounds stages 64 words in the same place, which one thread stores.
template <StoreBug kBug>
struct BulkStoreKernel {
  static constexpr int kThreads = 64, kRounds = 3;
  static constexpr Requires kRequires{.min = 90};
  struct Params {
    uint32_t* dst;  // kRounds x 64, aligned to 16 bytes
  };
  struct SharedStorage {
    alignas(16) uint32_t value[64];
  };

  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    for (int round = 0; round < kRounds; ++round) {
      if (t.tid() == 0 && kBug != StoreBug::kNoWait) t.TmaStoreWaitRead<0>();
      t.SyncThreads();
      t.StoreShared(&shared.value[t.tid()], static_cast<uint32_t>(100 * round + t.tid()));
      if (kBug != StoreBug::kNoFence) t.FenceProxyAsync();
      t.SyncThreads();
      if (t.tid() == 0) {
        t.BulkStore(p.dst + 64 * round, t.SharedAddress(shared.value), 256);
        if (kBug != StoreBug::kNoCommit) t.TmaStoreCommit();
      }
    }
    if (kBug != StoreBug::kNoLastWait) t.TmaStoreWaitRead<0>();
  }
};

// The error, or "wrong" for wrong values.
template <StoreBug kBug>
std::string Run(const CpuOptions& options) {
  using Kernel = BulkStoreKernel<kBug>;
  alignas(16) static uint32_t dst[Kernel::kRounds * 64];
  std::fill(std::begin(dst), std::end(dst), 0xDEADu);
  const std::string error = LaunchOnCpu<Kernel>({1}, {dst}, options).error;
  if (!error.empty()) return error;
  for (uint32_t i = 0; i < std::size(dst); ++i) {
    if (dst[i] != 100 * (i / 64) + i % 64) return "wrong";
  }
  return "";
}

template <StoreBug kBug>
void Expect(const std::string& text) {
  for (const CpuOptions& options : AllSchedules()) {
    if (kBug != StoreBug::kNone && options.copies != Copies::kDeferred) continue;
    SCOPED_TRACE(::testing::PrintToString(options));
    const std::string outcome = Run<kBug>(options);
    EXPECT_EQ(outcome.substr(0, text.empty() ? std::string::npos : text.size()), text);
  }
}

TEST(BulkStore, EverySchedule) {
  Expect<StoreBug::kNone>("");
}
TEST(BulkStore, StagedWithoutAFence) {
  Expect<StoreBug::kNoFence>("wrong");
}
TEST(BulkStore, StagedWhileTheLastRoundIsRead) {
  Expect<StoreBug::kNoWait>("wrong");
}
TEST(BulkStore, NotCommitted) {
  Expect<StoreBug::kNoCommit>(
      "TMA: a lane returned from the kernel before its store had been read");
}
TEST(BulkStore, ReturnedTooEarly) {
  Expect<StoreBug::kNoLastWait>(
      "TMA: a lane returned from the kernel before its store had been read");
}

}  // namespace
}  // namespace weft::arch::testing
