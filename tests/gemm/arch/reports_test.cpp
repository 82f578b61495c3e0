// What breaks a rule of the hardware ends the launch with a report, and leaves the process and the
// executor in order.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/gemm/arch/harness.hpp"

namespace weft::arch::testing {
namespace {

// The rules to break.
enum class Mode {
  kSound,
  kDeadlock,
  kHalfOfAWarpAtABarrier,
  kLaneReturnsBeforeBarrier,
  kDifferentBarriersInAWarp,
  kSameBarrierFromDifferentLines,
  kTwoBarriersOnOneLine,
  kWarpSkipsABarrier,
  kDifferentCollectives,
  kOverlappingMasks,
  kNotInOwnMask,
  kBarrierId,
  kBarrierCount,
  kBarrierCountsDiffer,
  kArrivesTwice,
  kSharedPointer,
  kSharedAddress,
  kSharedWindow,
  kCopyBeyondWindow,
  kCopyMisalignedTarget,
  kCopyMisalignedSource,
  kCopyTooLong,
  kLdMatrixMisaligned,
  kLdMatrixUnusedLane,
  kMisalignedGlobal,
};

struct alignas(16) Vec4 {
  uint32_t word[4];
};

// Notes the line of the statement that breaks the rule; several lanes may come by.
#define WEFT_HERE(statement) \
  (std::atomic_ref<int>(*p.line).store(__LINE__, std::memory_order_relaxed), (statement))

// Breaks the rule that `mode` names; `line` tells the test which line the report has to name.
struct RuleBreaker {
  static constexpr int kThreads = 96;
  static constexpr arch::Requires kRequires{.min = 80};
  struct Params {
    Mode mode;
    const Vec4* src;  // 2 elements
    int* line;        // [1]
  };
  struct SharedStorage {
    Vec4 value[kThreads];
  };

  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    uint32_t r1[1];
    const int lane = t.lane();
    const bool culprit = t.tid() == 33;
    const uint32_t mine = t.SharedAddress(&shared.value[t.tid()]);
    switch (p.mode) {
      case Mode::kSound:
        break;
      case Mode::kDeadlock:
        if (t.warp() == 0) WEFT_HERE(t.BarSync(2, 64));
        break;
      case Mode::kHalfOfAWarpAtABarrier:
        if (t.tid() < 48) WEFT_HERE(t.SyncThreads());
        t.SyncWarp();
        break;
      case Mode::kLaneReturnsBeforeBarrier:
        if (t.tid() == 95) return;
        WEFT_HERE(t.SyncThreads());
        break;
      case Mode::kDifferentBarriersInAWarp:
        WEFT_HERE(t.BarSync(1 + lane / 16, 96));
        break;
      case Mode::kSameBarrierFromDifferentLines:
        if (lane < 16) {
          t.SyncThreads();
        } else {
          WEFT_HERE(t.SyncThreads());
        }
        break;
      case Mode::kTwoBarriersOnOneLine:
        // clang-format off
        if (lane < 16) { t.SyncThreads(); } else { WEFT_HERE(t.SyncThreads()); }
        // clang-format on
        break;
      case Mode::kWarpSkipsABarrier:
        if (t.warp() != 1) t.SyncThreads();
        WEFT_HERE(t.SyncThreads());
        break;
      case Mode::kDifferentCollectives:
        if (lane < 7) {
          (void)t.Shfl(lane, 0);
        } else {
          WEFT_HERE(t.SyncWarp());
        }
        break;
      case Mode::kOverlappingMasks:
        WEFT_HERE(t.SyncWarp(lane < 16 ? 0x0001FFFFu : 0xFFFF0000u));
        t.SyncWarp();
        break;
      case Mode::kNotInOwnMask:
        if (culprit) WEFT_HERE(t.SyncWarp(1u));
        break;
      case Mode::kBarrierId:
        WEFT_HERE(t.BarSync(16, 96));
        break;
      case Mode::kBarrierCount:
        WEFT_HERE(t.BarArrive(1, 48));
        break;
      case Mode::kBarrierCountsDiffer:
        if (t.warp() < 2) WEFT_HERE(t.BarSync(1, t.warp() == 0 ? 96 : 64));
        break;
      case Mode::kArrivesTwice:
        if (t.warp() == 0) {
          t.BarArrive(1, 96);
          WEFT_HERE(t.BarArrive(1, 96));
        }
        break;
      case Mode::kSharedPointer:
        if (culprit) {
          uint32_t local = 0;
          WEFT_HERE(t.StoreShared(&local, 1u));
        }
        break;
      case Mode::kSharedAddress:
        if (culprit) WEFT_HERE((void)t.SharedAddress(p.src));
        break;
      case Mode::kSharedWindow:
        if (culprit) WEFT_HERE(t.LdMatrixX1(r1, mine - t.SharedAddress(&shared)));
        break;
      case Mode::kCopyBeyondWindow:
        if (culprit)
          WEFT_HERE(t.CpAsync(t.SharedAddress(&shared.value[0]) + sizeof(shared), p.src));
        break;
      case Mode::kCopyMisalignedTarget:
        if (culprit) WEFT_HERE(t.CpAsync(mine + 8, p.src));
        break;
      case Mode::kCopyMisalignedSource:
        if (culprit) WEFT_HERE(t.CpAsync<8>(mine, &p.src->word[1]));
        break;
      case Mode::kCopyTooLong:
        if (culprit) WEFT_HERE(t.CpAsync<4>(mine, p.src, 8));
        break;
      case Mode::kLdMatrixMisaligned:
        WEFT_HERE(t.LdMatrixX1(r1, culprit ? mine + 4 : mine));
        break;
      case Mode::kLdMatrixUnusedLane:
        WEFT_HERE(t.LdMatrixX1(r1, lane < 8 ? mine : 0));
        break;
      case Mode::kMisalignedGlobal:
        if (culprit)
          WEFT_HERE((void)t.LoadGlobal(reinterpret_cast<const uint64_t*>(&p.src->word[1])));
        break;
    }
  }
};

struct Expectation {
  const char* name;
  Mode mode;
  const char* rule;  // part of the report's first line
};

void PrintTo(const Expectation& expectation, std::ostream* out) {
  *out << expectation.name;
}

const Expectation kExpectations[] = {
    {"Deadlock", Mode::kDeadlock, "deadlock: "},
    {"HalfOfAWarpAtABarrier", Mode::kHalfOfAWarpAtABarrier, "divergence: "},
    {"LaneReturnsBeforeBarrier", Mode::kLaneReturnsBeforeBarrier, "divergence: "},
    {"DifferentBarriersInAWarp", Mode::kDifferentBarriersInAWarp, "divergence: "},
    {"SameBarrierFromDifferentLines", Mode::kSameBarrierFromDifferentLines, "divergence: "},
    {"TwoBarriersOnOneLine", Mode::kTwoBarriersOnOneLine, "divergence: SyncThreads (column "},
    {"WarpSkipsABarrier", Mode::kWarpSkipsABarrier,
     "divergence: SyncThreads, but other warps of the block are in SyncThreads at "},
    {"DifferentCollectives", Mode::kDifferentCollectives, "divergence: "},
    {"OverlappingMasks", Mode::kOverlappingMasks, "divergence: SyncWarp with mask 0x"},
    {"NotInOwnMask", Mode::kNotInOwnMask,
     "SyncWarp: the calling lane is not in its own mask 0x00000001"},
    {"BarrierId", Mode::kBarrierId, "barrier 16: ids are 0 to 15"},
    {"BarrierCount", Mode::kBarrierCount,
     "barrier 1: a count of 48; it has to be a multiple of 32 from 32 to 96"},
    {"BarrierCountsDiffer", Mode::kBarrierCountsDiffer, "barrier 1: used with a count of "},
    {"ArrivesTwice", Mode::kArrivesTwice,
     "barrier 1: a warp arrives twice before the barrier opened"},
    {"SharedPointer", Mode::kSharedPointer,
     "shared memory: the address is not in the block's SharedStorage"},
    {"SharedAddress", Mode::kSharedAddress,
     "shared memory: the address is not in the block's SharedStorage"},
    {"SharedWindow", Mode::kSharedWindow,
     "shared memory: the 32-bit address is outside the block's window"},
    {"CopyBeyondWindow", Mode::kCopyBeyondWindow,
     "shared memory: the 32-bit address is outside the block's window"},
    {"CopyMisalignedTarget", Mode::kCopyMisalignedTarget, "cp.async: misaligned shared address"},
    {"CopyMisalignedSource", Mode::kCopyMisalignedSource, "cp.async: misaligned global address"},
    {"CopyTooLong", Mode::kCopyTooLong,
     "cp.async: src_bytes is negative or more than the copy's size"},
    {"LdMatrixMisaligned", Mode::kLdMatrixMisaligned, "ldmatrix: misaligned shared address"},
    {"LdMatrixUnusedLane", Mode::kLdMatrixUnusedLane,
     "shared memory: the 32-bit address is outside the block's window"},
    {"MisalignedGlobal", Mode::kMisalignedGlobal, "global memory: access not aligned to its size"},
};

class RuleTest : public ::testing::TestWithParam<Expectation> {};

CpuReport Break(Mode mode, const CpuOptions& options, int* line) {
  const std::vector<Vec4> src(2);
  return LaunchOnCpu<RuleBreaker>({1}, {mode, src.data(), line}, options);
}

// When copies move has no part in this, and under ThreadSanitizer each failure is expensive.
std::vector<CpuOptions> FewSchedules() {
  return {{.schedule = Schedule::kForward},
          {.schedule = Schedule::kReverse},
          {.schedule = Schedule::kPriority, .seed = 1},
          {.schedule = Schedule::kPriority, .seed = 2},
          {.schedule = Schedule::kRandom, .seed = 1},
          {.schedule = Schedule::kRandom, .seed = 2}};
}

TEST_P(RuleTest, IsReportedWithTheLine) {
  for (const CpuOptions& options : FewSchedules()) {
    SCOPED_TRACE(::testing::PrintToString(options));
    int line = 0;
    const std::string error = Break(GetParam().mode, options, &line).error;
    const std::string first_line = error.substr(0, error.find('\n'));
    EXPECT_NE(first_line.find(GetParam().rule), std::string::npos) << error;
    EXPECT_NE(error.find("reports_test.cpp:" + std::to_string(line)), std::string::npos) << error;
    EXPECT_NE(error.find("block (0, 0, 0), warp "), std::string::npos) << error;
    EXPECT_NE(error.find("the lanes of the block stand here"), std::string::npos) << error;
    // The same stacks serve the next launch.
    EXPECT_EQ(Break(Mode::kSound, options, &line).error, "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, RuleTest, ::testing::ValuesIn(kExpectations),
                         [](const ::testing::TestParamInfo<Expectation>& info) {
                           return std::string(info.param.name);
                         });

TEST(Report, SaysWhereTheLanesStand) {
  int line = 0;
  const std::string error = Break(Mode::kDeadlock, {}, &line).error;
  const std::string at = std::string(__FILE__) + ":" + std::to_string(line);
  EXPECT_EQ(error, "deadlock: every lane of the block waits or has returned\n  at " + at +
                       ", block (0, 0, 0), warp 0, lane 0\n"
                       "  the lanes of the block stand here:\n"
                       "    warp 0 lanes 0-31: waits in barrier 2 at " +
                       at +
                       "\n"
                       "    warp 1 lanes 0-31: has returned from the kernel\n"
                       "    warp 2 lanes 0-31: has returned from the kernel\n"
                       "    barrier 2: 32 threads have arrived, it waits for 64");
}

// Matrix instructions in a block whose last warp is not full.
struct PartialMmaKernel {
  static constexpr int kThreads = 40;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {};
  struct SharedStorage {};
  void operator()(const Params&, SharedStorage&, Thread t) const {
    int32_t d[2] = {};
    t.MmaM8N8K16S8(d, 0, 0, d);
  }
};

TEST(Report, MatrixInstructionsNeedFullWarps) {
  const std::string error = LaunchOnCpu<PartialMmaKernel>({1}, {}).error;
  EXPECT_EQ(error.find("MmaM8N8K16S8 needs a full warp"), 0u) << error;
}

// A launch that asks for the first bytes of SharedStorage has no others.
struct FillsSharedStorage {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    int words;
  };
  struct SharedStorage {
    int word[1024];
  };
  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    for (int i = t.lane(); i < p.words; i += kThreads) t.StoreShared(&shared.word[i], i);
  }
};

TEST(Report, SharedStorageEndsWhereTheLaunchSaysSo) {
  const auto run = [](int words, int shared_bytes) {
    return LaunchOnCpu<FillsSharedStorage>({1}, {words}, {}, {.shared_bytes = shared_bytes}).error;
  };
  EXPECT_EQ(run(1024, 0), "");
  EXPECT_EQ(run(25, 100), "");
  EXPECT_EQ(run(26, 100).find("shared memory: the address is not in the block's SharedStorage"),
            0u);
}

// Blocks 5 and up fail.
struct SomeBlocksFail {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    int* finished;  // [blocks]
  };
  struct SharedStorage {};
  void operator()(const Params& p, SharedStorage&, Thread t) const {
    if (t.block_x() >= 5) t.BarSync(1, 33);
    if (t.lane() == 0) p.finished[t.block_x()] = 1;
  }
};

TEST(Report, IsOfTheFirstBlockThatFailsForAnyNumberOfWorkers) {
  for (const int workers : {1, 2, 7}) {
    std::vector<int> finished(1000);
    const CpuReport report =
        LaunchOnCpu<SomeBlocksFail>({1000}, {finished.data()}, CpuOptions{.workers = workers});
    EXPECT_NE(report.error.find("block (5, 0, 0)"), std::string::npos) << report.error;
    EXPECT_LT(report.stats.blocks, 1000);  // the launch stops
    for (int block = 0; block < 1000; ++block) EXPECT_EQ(finished[block], block < 5) << block;
  }
}

}  // namespace
}  // namespace weft::arch::testing
