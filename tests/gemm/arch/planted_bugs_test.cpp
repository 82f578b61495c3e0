// Tests of the checkers: each planted bug must be caught, and its correct twin must pass.
//
// Who catches what:
//   wrong value   the kernel's result differs, under the schedules that a test names
//   report        the executor ends the launch, in any build and under any schedule
//   ASan, TSan    the sanitizer, in builds with it; run in a child process (death tests)
// Tests that do not apply to a build are not compiled into it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/gemm/arch/expect_race.hpp"
#include "tests/gemm/arch/harness.hpp"
#include "tests/gemm/arch/planted_kernels.hpp"

namespace weft::arch::testing {
namespace {

// What came of a run.
struct Outcome {
  CpuReport report;
  int wrong = 0;  // elements of dst
};

template <Bug kBug>
Outcome RunPipeline(const CpuOptions& options) {
  using Kernel = PipelineKernel<kBug>;
  constexpr int kTiles = 7;
  Noise noise(options.seed);
  std::vector<Vec4> src(kTiles * Kernel::kThreads);
  for (Vec4& v : src) v = {{noise.Next(), noise.Next(), noise.Next(), noise.Next()}};
  std::vector<uint32_t> dst(Kernel::kThreads, 0xDEADu);
  Outcome outcome;
  outcome.report = LaunchOnCpu<Kernel>({1}, {src.data(), dst.data(), kTiles}, options);
  for (int tid = 0; tid < Kernel::kThreads; ++tid) {
    uint32_t expected = 0;
    for (int tile = 0; tile < kTiles; ++tile) {
      expected += Kernel::Digest(src[tile * Kernel::kThreads + Kernel::Partner(tid)]);
    }
    outcome.wrong += dst[tid] != expected;
  }
  return outcome;
}

// One block of a kernel whose Params are dst and `more`; thread `tid` is to write expected(tid).
template <class Kernel, class Expected, class... More>
Outcome RunBlock(const CpuOptions& options, const Expected& expected, More... more) {
  std::vector<uint32_t> dst(Kernel::kThreads, 0xDEADu);
  Outcome outcome;
  outcome.report = LaunchOnCpu<Kernel>({1}, {dst.data(), more...}, options);
  for (uint32_t tid = 0; tid < dst.size(); ++tid) outcome.wrong += dst[tid] != expected(tid);
  return outcome;
}

uint32_t Itself(uint32_t tid) {
  return tid;
}

template <Bug kBug>
Outcome RunNeighbours(const CpuOptions& options) {
  return RunBlock<NeighbourKernel<kBug>>(options, [](uint32_t tid) { return 1000u + (tid ^ 1u); });
}
template <Bug kBug>
Outcome RunBranch(const CpuOptions& options, int threads) {
  return RunBlock<BranchKernel<kBug>>(options, [](uint32_t) { return 1u; }, threads);
}
template <Bug kBug>
Outcome RunOverrun(const CpuOptions& options) {
  return RunBlock<OverrunKernel<kBug>>(options, &Itself);
}
template <Bug kBug>
Outcome RunMisaligned(const CpuOptions& options) {
  return RunBlock<MisalignedKernel<kBug>>(options, &Itself);
}

// --- The correct twins: right under every schedule, in every build (TSan and ASan stay silent)

TEST(CorrectTwin, PassesUnderEverySchedule) {
  for (const CpuOptions& options : AllSchedules()) {
    SCOPED_TRACE(::testing::PrintToString(options));
    for (const Outcome& outcome :
         {RunPipeline<Bug::kNone>(options), RunNeighbours<Bug::kNone>(options),
          RunBranch<Bug::kNone>(options, 64), RunOverrun<Bug::kNone>(options),
          RunMisaligned<Bug::kNone>(options)}) {
      EXPECT_EQ(outcome.report.error, "");
      EXPECT_EQ(outcome.wrong, 0);
    }
  }
}

// --- Wrong value: races, in builds where no sanitizer objects to running them

#if !WEFT_TEST_TSAN

// How many of the runs came out wrong. None of them may be refused: the bug is in the values only.
template <class Run>
int WrongRuns(Run run, Copies copies, Schedule schedule) {
  int wrong = 0;
  for (const CpuOptions& options : Seeds(copies, schedule)) {
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.report.error, "");
    wrong += outcome.wrong > 0;
  }
  return wrong;
}

constexpr int kSeeds = 8;  // of the schedules that have any

// Under every schedule and seed.
template <class Run>
void ExpectWrong(Run run, Copies copies) {
  EXPECT_EQ(WrongRuns(run, copies, Schedule::kForward), 1);
  EXPECT_EQ(WrongRuns(run, copies, Schedule::kReverse), 1);
  EXPECT_EQ(WrongRuns(run, copies, Schedule::kPriority), kSeeds);
  EXPECT_EQ(WrongRuns(run, copies, Schedule::kRandom), kSeeds);
}

// Why copies are deferred: those that are always early hide the bug.
template <class Run>
void ExpectHiddenByEagerCopies(Run run) {
  ExpectWrong(run, Copies::kDeferred);
  EXPECT_EQ(WrongRuns(run, Copies::kEager, Schedule::kForward), 0);
}

TEST(WrongValue, MissingBarrier) {
  ExpectWrong(&RunPipeline<Bug::kMissingBarrier>, Copies::kDeferred);
  ExpectWrong(&RunPipeline<Bug::kMissingBarrier>, Copies::kEager);
}
TEST(WrongValue, MissingWait) {
  ExpectHiddenByEagerCopies(&RunPipeline<Bug::kMissingWait>);
}
TEST(WrongValue, WaitOffByOne) {
  ExpectHiddenByEagerCopies(&RunPipeline<Bug::kWaitOffByOne>);
}
TEST(WrongValue, WriteAfterRead) {
  ExpectWrong(&RunPipeline<Bug::kWriteAfterRead>, Copies::kDeferred);
  ExpectWrong(&RunPipeline<Bug::kWriteAfterRead>, Copies::kEager);
}
TEST(WrongValue, MissingSyncWarp) {
  ExpectWrong(&RunNeighbours<Bug::kMissingSyncWarp>, Copies::kDeferred);
}

#endif  // !WEFT_TEST_TSAN

// --- Report: in every build, under every schedule

std::string Line(int line) {
  return "planted_kernels.hpp:" + std::to_string(line);
}

// The text is searched for, not matched: it says more than the test asks for.
void ExpectInError(const std::string& error, const std::string& text) {
  EXPECT_NE(error.find(text), std::string::npos) << "in: " << error;
}

TEST(Report, DivergentBarrier) {
  using Kernel = BranchKernel<Bug::kDivergentBarrier>;
  for (const CpuOptions& options : AllSchedules()) {
    SCOPED_TRACE(::testing::PrintToString(options));
    const Outcome outcome = RunBranch<Bug::kDivergentBarrier>(options, 40);
    ExpectInError(outcome.report.error, "divergence: ");
    ExpectInError(outcome.report.error, "SyncThreads");
    ExpectInError(outcome.report.error, Line(Kernel::kBarrierLine));
    ExpectInError(outcome.report.error, "block (0, 0, 0), warp 1, lane ");
    // Whole warps that go around a barrier return while others wait there, or arrive after that.
    const Outcome skipped = RunBranch<Bug::kDivergentBarrier>(options, 32);
    ExpectInError(skipped.report.error, "divergence: ");
    ExpectInError(skipped.report.error, "kWarpsReturnEarly");
    ExpectInError(skipped.report.error, Line(Kernel::kBarrierLine));
  }
}

TEST(Report, MisalignedAccess) {
  using Kernel = MisalignedKernel<Bug::kMisalignedAccess>;
  for (const CpuOptions& options : AllSchedules()) {
    SCOPED_TRACE(::testing::PrintToString(options));
    const Outcome outcome = RunMisaligned<Bug::kMisalignedAccess>(options);
    ExpectInError(outcome.report.error, "shared memory: access not aligned to its size");
    ExpectInError(outcome.report.error, Line(Kernel::kLoadLine));
  }
}

#if !WEFT_TEST_ASAN  // ASan is first there, see below
TEST(Report, SharedOverrun) {
  for (const CpuOptions& options : AllSchedules()) {
    SCOPED_TRACE(::testing::PrintToString(options));
    const Outcome outcome = RunOverrun<Bug::kSharedOverrun>(options);
    ExpectInError(outcome.report.error,
                  "shared memory: the kernel wrote outside its SharedStorage");
    ExpectInError(outcome.report.error, "block (0, 0, 0)");
  }
}
#endif

// --- AddressSanitizer: aborts, naming the kernel's file

#if WEFT_TEST_ASAN

TEST(AsanDeathTest, OutOfBoundsCopy) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(RunPipeline<Bug::kOutOfBoundsCopy>({.copies = Copies::kDeferred}),
               "heap-buffer-overflow.*planted_kernels.hpp");
  EXPECT_DEATH(RunPipeline<Bug::kOutOfBoundsCopy>({.copies = Copies::kEager}),
               "heap-buffer-overflow.*planted_kernels.hpp");
}

TEST(AsanDeathTest, SharedOverrun) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(RunOverrun<Bug::kSharedOverrun>({}), "use-after-poison.*planted_kernels.hpp");
}

#endif  // WEFT_TEST_ASAN

// --- ThreadSanitizer: reports a race, naming the kernel's file

#if WEFT_TEST_TSAN

TEST(TsanDeathTest, MissingBarrier) {
  EXPECT_RACE(RunPipeline<Bug::kMissingBarrier>({}), ".*planted_kernels.hpp");
}
TEST(TsanDeathTest, MissingWait) {
  EXPECT_RACE(RunPipeline<Bug::kMissingWait>({}), ".*planted_kernels.hpp");
}
TEST(TsanDeathTest, WaitOffByOne) {
  EXPECT_RACE(RunPipeline<Bug::kWaitOffByOne>({}), ".*planted_kernels.hpp");
}
TEST(TsanDeathTest, WriteAfterRead) {
  EXPECT_RACE(RunPipeline<Bug::kWriteAfterRead>({}), ".*planted_kernels.hpp");
}
TEST(TsanDeathTest, MissingSyncWarp) {
  EXPECT_RACE(RunNeighbours<Bug::kMissingSyncWarp>({}), ".*planted_kernels.hpp");
}
// Its values are right under every schedule: only TSan sees this one.
TEST(TsanDeathTest, ShuffleAsFence) {
  EXPECT_RACE(RunNeighbours<Bug::kShuffleAsFence>({}), ".*planted_kernels.hpp");
}

#endif  // WEFT_TEST_TSAN

}  // namespace
}  // namespace weft::arch::testing
