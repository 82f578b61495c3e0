// Rows of the table under every schedule of the executor, and their shared-memory bank conflicts: further runs of
// kernels that a test of the table has.
#pragma once

#include <initializer_list>

#include "tests/conv/table/check.hpp"
#include "tests/kinds.hpp"

namespace weft::conv::table {

// Every schedule, each with `seeds` seeds and with copies that arrive when they like, and at once.
template <class P>
void ExpectExactOnEverySchedule(const Problem& problem, int seeds) {
  for (const arch::Schedule schedule : {arch::Schedule::kForward, arch::Schedule::kReverse,
                                        arch::Schedule::kPriority, arch::Schedule::kRandom}) {
    for (const arch::Copies copies : {arch::Copies::kDeferred, arch::Copies::kEager}) {
      for (int seed = 1; seed <= seeds; ++seed) {
        RunOptions how;
        how.cpu.schedule = schedule;
        how.cpu.copies = copies;
        how.cpu.seed = static_cast<std::uint64_t>(seed);
        how.cpu.workers = 1 + seed % 2;
        ExpectExact<P>(problem, 1, how);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// By the kernel of any filter, and by that of 1x1 filters.
template <class P>
void ExpectExactOnEverySchedule() {
  for (Problem p : {SquareProblem(1, 70, 7, 40, 3, 1, 1), SquareProblem(1, 200, 9, 70, 1, 0, 2)}) {
    if (P::SrcLayout::kChannelRun == 0) p.c = RoundUp(p.c, 16);
    if (P::DstLayout::kChannelRun == 0) p.k = RoundUp(p.k, 16);
    ExpectExactOnEverySchedule<P>(p, 2);
  }
}

template <class P>
arch::CpuStats StatsOf(const Problem& problem = SquareProblem(1, 128, 14, 128, 3, 1, 1)) {
  arch::CpuStats stats;
  RunOptions how;
  how.stats = &stats;
  ExpectExact<P>(problem, 1, how);
  return stats;
}

// Every ldmatrix is served in as few passes as its bytes need.
template <class P>
arch::CpuStats ExpectNoConflictsOfLdMatrix() {
  const arch::CpuStats stats = StatsOf<P>();
  EXPECT_GT(stats.ldmatrix_phases, 100);
  EXPECT_EQ(stats.ldmatrix_wavefronts, stats.ldmatrix_phases);
  return stats;
}

// And so is every other access to shared memory.
template <class P>
void ExpectNoConflicts() {
  const arch::CpuStats stats = ExpectNoConflictsOfLdMatrix<P>();
  EXPECT_GT(stats.shared_phases, 100);
  EXPECT_EQ(stats.shared_wavefronts, stats.shared_phases);
}

}  // namespace weft::conv::table
