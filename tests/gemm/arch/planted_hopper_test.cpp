// Tests of the checkers for sm_90: each planted bug is caught under every schedule, as a report or
// (where noted) as a wrong result under those that a test names; its correct twin passes under all.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/gemm/arch/expect_race.hpp"
#include "tests/gemm/arch/harness.hpp"
#include "tests/gemm/arch/planted_hopper_kernels.hpp"

namespace weft::arch::testing {
namespace {

struct Outcome {
  std::string error;
  int wrong = 0;  // elements of dst
};

template <HopperBug kBug>
Outcome RunRing(const CpuOptions& options) {
  using Kernel = HopperRingKernel<kBug>;
  constexpr int kTiles = 8, kN = Kernel::kN;
  static int8_t a alignas(128)[kTiles][64][32];
  static int8_t b alignas(128)[kTiles][kN][32];
  Noise noise(options.seed);
  for (auto& tile : a) {
    for (auto& row : tile) {
      for (int8_t& v : row) v = static_cast<int8_t>(noise.Next() >> 24);
    }
  }
  for (auto& tile : b) {
    for (auto& row : tile) {
      for (int8_t& v : row) v = static_cast<int8_t>(noise.Next() >> 24);
    }
  }
  const auto map = [](const void* base, uint16_t rows) {
    return CpuTensorMap({.base = base,
                         .stride = {32},
                         .dim = {32, static_cast<uint32_t>(kTiles * rows)},
                         .rank = 2,
                         .element_bytes = 1,
                         .swizzle = SwizzleSpan::k32,
                         .box = {32, rows}});
  };
  std::vector<int32_t> dst(128 * kN / 2, 0xDEAD);
  Outcome outcome;
  outcome.error =
      LaunchOnCpu<Kernel>({1}, {map(a, 64), map(b, kN), dst.data(), kTiles}, options).error;
  for (int tid = 0; tid < 128; ++tid) {
    for (int r = 0; r < kN / 2; ++r) {
      const int row = tid / 32 * 16 + r / 2 % 2 * 8 + tid % 32 / 4;
      const int column = r / 4 * 8 + tid % 4 * 2 + r % 2;
      int32_t sum = 0;
      for (int tile = 0; tile < kTiles; ++tile) {
        for (int k = 0; k < 32; ++k) sum += a[tile][row][k] * b[tile][column][k];
      }
      outcome.wrong += dst[tid * kN / 2 + r] != sum;
    }
  }
  return outcome;
}

template <HopperBug kBug>
Outcome RunProxy(const CpuOptions& options) {
  std::vector<int32_t> dst(128, 0xDEAD);
  Outcome outcome;
  outcome.error = LaunchOnCpu<ProxyKernel<kBug>>({1}, {dst.data()}, options).error;
  for (const int32_t sum : dst) outcome.wrong += sum != 32;
  return outcome;
}

template <HopperBug kBug>
Outcome RunRs(const CpuOptions& options) {
  std::vector<int32_t> dst(128, 0xDEAD);
  Outcome outcome;
  outcome.error = LaunchOnCpu<RsKernel<kBug>>({1}, {dst.data()}, options).error;
  for (const int32_t sum : dst) outcome.wrong += sum != 96;
  return outcome;
}

template <HopperBug kBug>
Outcome RunPhases(const CpuOptions& options) {
  using Kernel = PhaseKernel<kBug>;
  std::vector<uint32_t> dst(Kernel::kRounds, 0xDEAD);
  Outcome outcome;
  outcome.error = LaunchOnCpu<Kernel>({1}, {dst.data()}, options).error;
  for (uint32_t i = 0; i < dst.size(); ++i) outcome.wrong += dst[i] != i + 1;
  return outcome;
}

template <HopperBug kBug>
Outcome RunLink(const CpuOptions& options) {
  const std::vector<uint32_t> src(32, 5), table(32, 7);
  std::vector<uint32_t> dst(32, 0xDEAD);
  LaunchAttributes attributes{.dependent = true};
  attributes.constant[0] = {table.data(), 32 * 4};
  Outcome outcome;
  outcome.error = LaunchOnCpu<LinkKernel<kBug>>({1}, {src.data(), table.data(), dst.data()},
                                                options, attributes)
                      .error;
  for (const uint32_t v : dst) outcome.wrong += v != 12;
  return outcome;
}

template <HopperBug kBug>
Outcome RunPeers(const CpuOptions& options) {
  constexpr int kBlocks = 8, kCluster = 4;
  std::vector<uint32_t> dst(kBlocks * 32, 0xDEAD);
  Outcome outcome;
  outcome.error =
      LaunchOnCpu<PeerKernel<kBug>>({kBlocks}, {dst.data()}, options, {.cluster = {kCluster}})
          .error;
  for (uint32_t i = 0; i < dst.size(); ++i) {
    outcome.wrong += dst[i] != (i / 32 + 1) % kCluster + i % 32;
  }
  return outcome;
}

template <HopperBug kBug>
Outcome RunSending(const CpuOptions& options) {
  constexpr uint32_t kBlocks = 8, kCluster = 4, kRounds = SendingKernel<kBug>::kRounds;
  std::vector<uint32_t> dst(kBlocks * 32, 0xDEAD);
  Outcome outcome;
  outcome.error =
      LaunchOnCpu<SendingKernel<kBug>>({kBlocks}, {dst.data()}, options, {.cluster = {kCluster}})
          .error;
  for (uint32_t i = 0; i < dst.size(); ++i) {
    const uint32_t each = (i / 32 + kCluster - 1) % kCluster + i % 32 * 100;
    outcome.wrong += dst[i] != kRounds * each + 10000 * (kRounds * (kRounds - 1) / 2);
  }
  return outcome;
}

template <HopperBug kBug>
Outcome RunBulk(const CpuOptions& options) {
  alignas(16) static uint32_t src[64];
  for (uint32_t i = 0; i < 64; ++i) src[i] = i * 3;
  std::vector<uint32_t> dst(64, 0xDEAD);
  Outcome outcome;
  outcome.error = LaunchOnCpu<BulkKernel<kBug>>({1}, {src, dst.data()}, options).error;
  for (uint32_t i = 0; i < 64; ++i) outcome.wrong += dst[i] != i * 3;
  return outcome;
}

TEST(HopperTwin, PassesUnderEverySchedule) {
  for (const CpuOptions& options : AllSchedules()) {
    SCOPED_TRACE(::testing::PrintToString(options));
    for (const Outcome& outcome :
         {RunRing<HopperBug::kNone>(options), RunProxy<HopperBug::kNone>(options),
          RunPhases<HopperBug::kNone>(options), RunLink<HopperBug::kNone>(options),
          RunPeers<HopperBug::kNone>(options), RunSending<HopperBug::kNone>(options),
          RunBulk<HopperBug::kNone>(options), RunRs<HopperBug::kNone>(options)}) {
      EXPECT_EQ(outcome.error, "");
      EXPECT_EQ(outcome.wrong, 0);
    }
  }
}

// --- Reports
// -----------------------------------------------------------------------------------------

std::vector<CpuOptions> Deferred() {
  std::vector<CpuOptions> all;
  for (const CpuOptions& options : AllSchedules()) {
    if (options.copies == Copies::kDeferred && options.seed <= 4) all.push_back(options);
  }
  return all;
}

// Every run ends with a report that contains the text and names the kernels' file.
template <class Run>
void ExpectReports(Run run, const std::string& text) {
  for (const CpuOptions& options : Deferred()) {
    SCOPED_TRACE(::testing::PrintToString(options));
    const std::string error = run(options).error;
    EXPECT_NE(error.find(text), std::string::npos) << "in: " << error;
    EXPECT_NE(error.find("planted_hopper_kernels.hpp:"), std::string::npos) << error;
  }
}

TEST(HopperReport, MissingMbarFence) {
  ExpectReports(&RunRing<HopperBug::kMissingMbarFence>, "FenceMbarInit is missing after MbarInit");
}
TEST(HopperReport, TooFewBytesExpected) {
  ExpectReports(&RunRing<HopperBug::kTooFewBytesExpected>,
                "64 bytes more have arrived than its phase expects (wrong expect_tx?)");
}
TEST(HopperReport, TooManyBytesExpectedIsADeadlockThatNamesThem) {
  ExpectReports(&RunRing<HopperBug::kTooManyBytesExpected>, "deadlock: ");
  ExpectReports(&RunRing<HopperBug::kTooManyBytesExpected>,
                "which waits for 0 of 1 arrivals and 64 bytes");
}
TEST(HopperReport, MissingWgmmaFence) {
  ExpectReports(&RunRing<HopperBug::kMissingWgmmaFence>, "WgmmaFence is missing");
}
TEST(HopperReport, SumsTouchedInFlight) {
  ExpectReports(&RunRing<HopperBug::kSumsTouchedInFlight>, "wgmma: sums were written");
}
TEST(HopperReport, OperandTouchedInFlight) {
  ExpectReports(&RunRs<HopperBug::kOperandTouchedInFlight>,
                "wgmma: registers of operand a were written");
}
TEST(HopperReport, MissingFenceOfOperand) {
  ExpectReports(&RunRs<HopperBug::kMissingFenceOfOperand>,
                "WgmmaFence is missing between the last use of the registers of operand a");
}
TEST(HopperReport, WarpsOfAWarpgroupDisagree) {
  ExpectReports(&RunRing<HopperBug::kOneWarpDiffers>,
                "divergence: the warps of warpgroup 1 issue different products");
}
TEST(HopperReport, MisalignedBox) {
  ExpectReports(&RunRing<HopperBug::kMisalignedBox>,
                "the box does not start at a multiple of 16 bytes");
}
TEST(HopperReport, MissingDependencyWait) {
  ExpectReports(&RunLink<HopperBug::kMissingDependencyWait>,
                "global memory is read before WaitForEarlierGrids");
}
TEST(HopperReport, ReadOnlyLoadOfWhatEarlierGridsWrite) {
  ExpectReports(&RunLink<HopperBug::kReadOnlyLoad>, "LoadGlobal takes the read-only path");
}
TEST(HopperReport, TooManyArrivals) {
  ExpectReports(&RunBulk<HopperBug::kTooManyArrivals>,
                "an arrival beyond its count of 1 while 256");
}
TEST(HopperReport, BarrierOverwritten) {
  ExpectReports(&RunBulk<HopperBug::kBarrierOverwritten>, "overwritten since MbarInit at ");
}
TEST(HopperReport, RegistersThatNobodyGives) {
  ExpectReports(&RunBulk<HopperBug::kRegistersThatNobodyGives>, "SetMaxReg");
}

// What depends on who runs when: most schedules see it, all of them together always do.
template <class Run>
int Caught(Run run, const std::string& text) {
  int caught = 0;
  for (const CpuOptions& options : Deferred()) {
    const Outcome outcome = run(options);
    caught += outcome.error.find(text) != std::string::npos;
    EXPECT_TRUE(outcome.error.empty() || outcome.error.find(text) != std::string::npos)
        << outcome.error;
  }
  return caught;
}

TEST(HopperReport, ExitBeforeAPeersAccess) {
  EXPECT_GE(Caught(&RunPeers<HopperBug::kMissingLastClusterSync>,
                   "has returned, and its shared memory is gone"),
            8);
}
TEST(HopperReport, PeerThatMayNotHaveStarted) {
  EXPECT_GE(Caught(&RunPeers<HopperBug::kMissingFirstClusterSync>, "may not have started"), 5);
}
TEST(HopperReport, CopyNobodyWaitsFor) {
  EXPECT_GE(Caught(&RunBulk<HopperBug::kCopyNobodyWaitsFor>,
                   "while this copy is in flight: nobody has waited for it"),
            4);
}

// --- Races, where no sanitizer objects to running them
// --------------------------------------

#if !WEFT_TEST_TSAN

TEST(HopperReport, ShortWgmmaWait) {
  ExpectReports(&RunRing<HopperBug::kShortWgmmaWait>,
                "while this product is in flight (WgmmaWait is missing or too short");
}
TEST(HopperReport, MissingWgmmaWait) {
  ExpectReports(&RunRing<HopperBug::kMissingWgmmaWait>,
                "while this product is in flight (WgmmaWait is missing or too short");
}
TEST(HopperReport, PhasesTakenInTurn) {
  // By an interleaving in which the parity is misread, the value is stale, or everybody waits.
  for (const CpuOptions& options : Deferred()) {
    SCOPED_TRACE(::testing::PrintToString(options));
    const Outcome outcome = RunPhases<HopperBug::kTakesEveryOtherPhase>(options);
    EXPECT_TRUE(outcome.error.find("who skips phases can take one parity for the other") !=
                    std::string::npos ||
                outcome.error.find("beyond its count") != std::string::npos ||
                outcome.error.find("deadlock") != std::string::npos || outcome.wrong > 0)
        << outcome.error;
  }
}

// Who passes over phases must have made sure of them. In some interleaving the parity is misread, and the
// report says so.
TEST(HopperReport, PhasesPassedOver) {
  int said = 0;
  for (const CpuOptions& options : Deferred()) {
    SCOPED_TRACE(::testing::PrintToString(options));
    const Outcome outcome = RunPhases<HopperBug::kPassesPhases>(options);
    said += outcome.error.find("for one after phase") != std::string::npos;
  }
  EXPECT_GT(said, 0);
}

// How many runs come out wrong, or end with a report of something that the bug leads to.
template <class Run>
int CaughtRuns(Run run, Schedule schedule) {
  int caught = 0;
  for (const CpuOptions& options : Seeds(Copies::kDeferred, schedule)) {
    const Outcome outcome = run(options);
    caught += outcome.wrong > 0 || !outcome.error.empty();
  }
  return caught;
}

// With engines that are late, always; of those that may be early, at least `seeds` of 8.
template <class Run>
void ExpectCaught(Run run, int seeds) {
  EXPECT_EQ(CaughtRuns(run, Schedule::kForward), 1);
  EXPECT_EQ(CaughtRuns(run, Schedule::kReverse), 1);
  EXPECT_GE(CaughtRuns(run, Schedule::kPriority), seeds);
  EXPECT_GE(CaughtRuns(run, Schedule::kRandom), seeds);
}

TEST(HopperWrongValue, MissingFullWait) {
  ExpectCaught(&RunRing<HopperBug::kMissingFullWait>, 8);
}
TEST(HopperWrongValue, SlotReleasedBeforeTheProductIsMade) {
  ExpectCaught(&RunRing<HopperBug::kEarlyRelease>, 2);
}
TEST(HopperWrongValue, MissingWaitForWhatIsSent) {
  ExpectCaught(&RunSending<HopperBug::kMissingWaitForWhatIsSent>, 8);
}
TEST(HopperWrongValue, MissingWaitBeforeSending) {
  ExpectCaught(&RunSending<HopperBug::kMissingWaitBeforeSending>, 4);
}
TEST(HopperWrongValue, WrongSwizzle) {
  ExpectCaught(&RunRing<HopperBug::kWrongSwizzle>, 8);
}
TEST(HopperWrongValue, WrongStride) {
  ExpectCaught(&RunRing<HopperBug::kWrongStride>, 8);
}
TEST(HopperWrongValue, MissingProxyFence) {
  ExpectCaught(&RunProxy<HopperBug::kMissingProxyFence>, 8);
}

#else

TEST(HopperTsanDeathTest, MissingFullWait) {
  EXPECT_RACE(RunRing<HopperBug::kMissingFullWait>({}), "");
}
TEST(HopperTsanDeathTest, SlotReleasedBeforeTheProductIsMade) {
  EXPECT_RACE(RunRing<HopperBug::kEarlyRelease>({}), "");
}

#endif

}  // namespace
}  // namespace weft::arch::testing
