// The executor's own behaviour: odd blocks, early exits, workers, options, statistics.
#include <gtest/gtest.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <cfenv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/gemm/arch/harness.hpp"
#include "weft/gemm/arch/device.hpp"

namespace weft::arch::testing {
namespace {

// A block whose last warp has four lanes: barriers, shuffles and votes leave out those that do not
// exist.
struct PartialWarpKernel {
  static constexpr int kThreads = 36;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    uint32_t* out;  // 2 x kThreads
  };
  struct SharedStorage {
    uint32_t value[kThreads];
  };
  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    t.StoreShared(&shared.value[t.tid()], static_cast<uint32_t>(t.tid()));
    t.SyncThreads();
    p.out[t.tid()] = t.LoadShared(&shared.value[kThreads - 1 - t.tid()]);
    t.SyncWarp();
    p.out[kThreads + t.tid()] = t.Ballot(true) + t.ShflXor(static_cast<uint32_t>(t.tid()), 1);
    t.BarSync(3, 64);
  }
};

TEST(Executor, PartialLastWarp) {
  for (const CpuOptions& options : AllSchedules()) {
    std::vector<uint32_t> out(2 * 36);
    const CpuReport report = LaunchOnCpu<PartialWarpKernel>({1}, {out.data()}, options);
    ASSERT_EQ(report.error, "") << ::testing::PrintToString(options);
    for (uint32_t tid = 0; tid < 36; ++tid) {
      EXPECT_EQ(out[tid], 35 - tid);
      EXPECT_EQ(out[36 + tid], (tid < 32 ? ~0u : 0xFu) + (tid ^ 1u));
    }
  }
}

// Warp 1 leaves before the barriers, warp 2 between them; lanes of warp 3 leave one by one, and the
// remaining ones still vote and synchronise.
struct EarlyExitKernel {
  static constexpr int kThreads = 128;
  static constexpr bool kWarpsReturnEarly = true;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    uint32_t* out;  // kThreads
  };
  struct SharedStorage {
    uint32_t value[kThreads];
  };
  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    if (t.warp() == 1) return;
    if (t.warp() == 3) {
      uint32_t votes = 0;
      for (int round = 0; round < t.lane(); ++round) {
        votes += t.Ballot(true);
        t.SyncWarp();
      }
      p.out[t.tid()] = votes;
      return;
    }
    shared.value[t.tid()] = t.tid();
    t.SyncThreads();
    p.out[t.tid()] = shared.value[t.tid() ^ 64];
    if (t.warp() == 2) return;
    t.SyncThreads();
    p.out[t.tid()] += 1000;
  }
};

TEST(Executor, WarpsAndLanesThatReturnEarly) {
  for (const CpuOptions& options : AllSchedules()) {
    std::vector<uint32_t> out(128, 0);
    const CpuReport report = LaunchOnCpu<EarlyExitKernel>({1}, {out.data()}, options);
    ASSERT_EQ(report.error, "") << ::testing::PrintToString(options);
    uint32_t votes = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(out[lane], (lane ^ 64u) + 1000);
      EXPECT_EQ(out[32 + lane], 0u);
      EXPECT_EQ(out[64 + lane], lane);
      EXPECT_EQ(out[96 + lane], votes);
      votes += ~0u << lane << 1;  // who votes in round `lane`: the lanes above
    }
  }
}

// Some arithmetic whose result depends on shared memory left by nobody but this block.
struct ChainKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    uint32_t* out;  // [block][kThreads]
  };
  struct SharedStorage {
    uint32_t value[kThreads];
  };
  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    uint32_t x = t.block_x() * 7919u + t.tid();
    for (int round = 0; round < 5; ++round) {
      shared.value[t.tid()] = x;
      t.SyncThreads();
      x = x * 31 + shared.value[(t.tid() * 5 + round) % kThreads];
      t.SyncThreads();
    }
    p.out[t.block_x() * kThreads + t.tid()] = x;
  }
};

std::vector<uint32_t> RunChain(const CpuOptions& options) {
  constexpr int kBlocks = 40;
  std::vector<uint32_t> out(kBlocks * ChainKernel::kThreads);
  const CpuReport report = LaunchOnCpu<ChainKernel>({kBlocks}, {out.data()}, options);
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.stats.blocks, kBlocks);
  return out;
}

TEST(Executor, AnyNumberOfWorkersGivesTheSameResult) {
  const std::vector<uint32_t> expected = RunChain({.workers = 1});
  for (const int workers : {0, 2, 3, 16, 100}) EXPECT_EQ(RunChain({.workers = workers}), expected);
}

TEST(Executor, ConcurrentLaunchesDoNotMeet) {
  const std::vector<uint32_t> expected = RunChain({.workers = 1});
  std::vector<std::vector<uint32_t>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&result] { result = RunChain({.workers = 2}); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

// A block at the limits: 1024 threads, 227 KB.
struct LargeKernel {
  static constexpr int kThreads = 1024;
  static constexpr arch::Requires kRequires{.min = 90};
  struct Params {
    uint32_t* out;
  };
  struct SharedStorage {
    uint32_t value[kMaxSharedBytes / 4];
  };
  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    constexpr int kWords = kMaxSharedBytes / 4;
    for (int i = t.tid(); i < kWords; i += kThreads) shared.value[i] = i;
    t.SyncThreads();
    p.out[t.tid()] = shared.value[kWords - 1 - t.tid()];
  }
};

TEST(Executor, LargestBlock) {
  std::vector<uint32_t> out(1024);
  const CpuReport report = LaunchOnCpu<LargeKernel>({2}, {out.data()});
  ASSERT_EQ(report.error, "");
  for (uint32_t i = 0; i < 1024; ++i) EXPECT_EQ(out[i], kMaxSharedBytes / 4u - 1 - i);
}

// --- Shared memory is garbage at first
// --------------------------------------------------------------

struct FreshKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    uint32_t* out;
  };
  struct SharedStorage {
    uint32_t value[kThreads];
  };
  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    p.out[t.tid()] = shared.value[t.tid()];
    shared.value[t.tid()] = 0;
  }
};

TEST(Executor, FreshSharedMemoryDependsOnTheSeed) {
  const auto run = [](uint64_t seed) {
    std::vector<uint32_t> out(32);
    EXPECT_TRUE(LaunchOnCpu<FreshKernel>({1}, {out.data()}, CpuOptions{.seed = seed}).ok());
    return out;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
  EXPECT_NE(run(1)[0], run(1)[1]);
}

// --- Options
// ------------------------------------------------------------------------------------------

class Environment : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"WEFT_CPU_COPIES", "WEFT_CPU_SCHEDULE", "WEFT_CPU_SEED",
                             "WEFT_CPU_WORKERS", "WEFT_CPU_STACK"}) {
      unsetenv(name);
    }
  }
};

TEST_F(Environment, OverridesTheDefaults) {
  setenv("WEFT_CPU_COPIES", "eager", 1);
  setenv("WEFT_CPU_SCHEDULE", "priority", 1);
  setenv("WEFT_CPU_SEED", "12345678901234", 1);
  setenv("WEFT_CPU_WORKERS", "3", 1);
  setenv("WEFT_CPU_STACK", "1048576", 1);
  const CpuOptions options = CpuOptions::FromEnvironment();
  EXPECT_EQ(options.copies, Copies::kEager);
  EXPECT_EQ(options.schedule, Schedule::kPriority);
  EXPECT_EQ(options.seed, 12345678901234u);
  EXPECT_EQ(options.workers, 3);
  EXPECT_EQ(options.stack_bytes, 1048576);
  EXPECT_EQ(options.invalid, "");
}

TEST_F(Environment, NonsenseIsRefusedByTheLaunch) {
  setenv("WEFT_CPU_SCHEDULE", "backward", 1);
  std::vector<uint32_t> out(32);
  EXPECT_EQ(LaunchOnCpu<FreshKernel>({1}, {out.data()}).error,
            "CPU executor: WEFT_CPU_SCHEDULE=backward is not one of forward, reverse, priority, "
            "random");
  TearDown();
  setenv("WEFT_CPU_WORKERS", "-1", 1);
  EXPECT_EQ(LaunchOnCpu<FreshKernel>({1}, {out.data()}).error,
            "CPU executor: WEFT_CPU_WORKERS=-1 is not a number from 0 on that fits its type");
}

// The sum and the product of the numbers in p, one thread each.
struct RoundingKernel {
  static constexpr int kThreads = 2;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    float a, b;
    float* out;  // 2 for each block
  };
  struct SharedStorage {};
  void operator()(const Params& p, SharedStorage&, Thread t) const {
    p.out[2 * t.block_x() + t.tid()] = t.tid() == 0 ? p.a + p.b : p.a * p.b;
  }
};

TEST(Executor, IgnoresTheCallersRoundingAndFlushing) {
  float out[4] = {};
  // One worker and two: the caller's thread, and one that it starts.
  for (const int workers : {1, 2}) {
    std::fesetround(FE_UPWARD);
#if defined(__SSE2__)
    const unsigned flushing = _mm_getcsr() | 0x8040;
    _mm_setcsr(flushing);
#endif
    const CpuReport sum =
        LaunchOnCpu<RoundingKernel>({workers}, {1.0f, 0x1p-30f, out}, {.workers = workers});
    const float above_one = out[2 * workers - 2];
    const CpuReport product =
        LaunchOnCpu<RoundingKernel>({workers}, {0x1p-100f, 0x1p-40f, out}, {.workers = workers});
#if defined(__SSE2__)
    EXPECT_EQ(_mm_getcsr() & 0x8040, 0x8040u);
    _mm_setcsr(flushing & ~0x8040u);
#endif
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    std::fesetround(FE_TONEAREST);
    EXPECT_TRUE(sum.ok() && product.ok()) << sum.error << product.error;
    EXPECT_EQ(above_one, 1.0f);
    EXPECT_EQ(out[2 * workers - 1], 0x1p-140f);
  }
}

// A lane's frame of 1 MB, of which the lowest bytes are written first: behind the guard's first page.
struct LargeFrameKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    int* out;
  };
  struct SharedStorage {};
  void operator()(const Params& p, SharedStorage&, Thread t) const {
    volatile int large[250000];
    large[0] = t.tid();
    large[249999] = 1;
    t.SyncThreads();
    p.out[t.tid()] = large[0] + large[249999];
  }
};

TEST(Executor, SaysThatAStackIsFull) {
  std::vector<int> out(64);
  const LargeFrameKernel::Params params{out.data()};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which report it themselves
  for (const int workers : {1, 2}) {
    EXPECT_DEATH(
        (void)LaunchOnCpu<LargeFrameKernel>({4}, params, {.workers = workers}),
        "Weft: CPU executor: a lane's stack of 262144 bytes is full.*WEFT_CPU_STACK=1048576");
  }
  // The handler that was there before is called, and is there afterwards.
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, [](int) { std::_Exit(7); });
        (void)LaunchOnCpu<LargeFrameKernel>({1}, params);
      },
      ::testing::ExitedWithCode(7), "is full");
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, [](int) { std::_Exit(7); });
        (void)LaunchOnCpu<LargeFrameKernel>({1}, params, {.stack_bytes = 4 << 20});
        std::raise(SIGSEGV);
      },
      ::testing::ExitedWithCode(7), "^$");
#endif
  for (const CpuOptions& options : AllSchedules()) {  // among launches with smaller stacks
    CpuOptions larger = options;
    larger.stack_bytes = (4 << 20) + 1;
    const CpuReport report = LaunchOnCpu<LargeFrameKernel>({2}, params, larger);
    ASSERT_EQ(report.error, "");
    for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], i + 1);
    std::vector<uint32_t> partial(2 * 36);
    EXPECT_EQ(LaunchOnCpu<PartialWarpKernel>({1}, {partial.data()}, options).error, "");
  }
}

TEST(Executor, RefusesOptionsThatNameNothing) {
  EXPECT_EQ(LaunchOnCpu<FreshKernel>({1}, {nullptr}, {.schedule = static_cast<Schedule>(4)}).error,
            "CPU executor: options.schedule is 4, which names no schedule");
  EXPECT_EQ(LaunchOnCpu<FreshKernel>({1}, {nullptr}, {.copies = static_cast<Copies>(-1)}).error,
            "CPU executor: options.copies is -1, neither eager nor deferred");
  EXPECT_EQ(
      LaunchOnCpu<FreshKernel>({1}, {nullptr}, {.stack_bytes = 4096}).error,
      "CPU executor: options.stack_bytes (WEFT_CPU_STACK) is 4096; a lane's stack has 65536 to "
      "1073741824 bytes");
}

TEST(Executor, RefusesClustersThatDoNotFit) {
  const auto error = [](Dim3 cluster) {
    return LaunchOnCpu<FreshKernel>({4}, {nullptr}, {}, {.cluster = cluster}).error;
  };
  EXPECT_NE(error({3}).find("clusters of 3 x 1 x 1 blocks for a grid of 4 x 1 x 1"),
            std::string::npos);
  EXPECT_NE(error({0}).find("clusters of 0 x 1 x 1"), std::string::npos);
  EXPECT_NE(error({2}).find("clusters need a kernel whose kRequires.min is 90"), std::string::npos);
}

TEST(Executor, RefusesGridsThatHardwareWould) {
  for (const Dim3 grid : {Dim3{0, 1, 1}, Dim3{1, -1, 1}, Dim3{1, 65536, 1}, Dim3{1, 1, 65536}}) {
    const CpuReport report = LaunchOnCpu<FreshKernel>(grid, {nullptr});
    EXPECT_NE(report.error.find("each extent is at least 1, and y and z at most 65535"),
              std::string::npos)
        << report.error;
  }
}

// --- Device
// ---------------------------------------------------------------------------------------------

TEST(Requires, ComparesOrMatches) {
  constexpr Requires kAny{.min = 80}, kHopperOnly{.min = 90, .exact = true};
  static_assert(!kAny.Fits(75) && kAny.Fits(80) && kAny.Fits(89) && kAny.Fits(120));
  static_assert(!kHopperOnly.Fits(89) && kHopperOnly.Fits(90) && !kHopperOnly.Fits(100));
  EXPECT_TRUE(CheckedKernel<FreshKernel>::kOk);
}

TEST(Device, IsDescribedOrMissedByName) {
  const DeviceQuery query = QueryDevice();
  if (query.result.ok()) {
    EXPECT_GE(query.limits.compute_capability, 50);
    EXPECT_GT(query.limits.sm_count, 0);
    EXPECT_GE(query.limits.shared_memory_per_block, 48 * 1024);
    EXPECT_GT(query.limits.l2_bytes, 0);
  } else {
    EXPECT_NE(query.result.cuda_error, 0);
    EXPECT_STRNE(query.result.message, "");
  }
}

}  // namespace
}  // namespace weft::arch::testing
