// On the CPU, under every schedule, and without bank conflicts.
#include "tests/conv/table/rows/simt_rows.hpp"
#include "tests/conv/table/schedules.hpp"

namespace weft::conv::table {
namespace {

TEST(Schedules, Simt) {
  ExpectExactOnEverySchedule<Nc4ToNc4>();
  ExpectExactOnEverySchedule<Nc4Sliced>();
#if !WEFT_ONE_OF_EACH_KIND
  ExpectExactOnEverySchedule<Nc4ToNc32>();
#endif
}

#if !WEFT_ONE_OF_EACH_KIND
// Every shared-memory access of the mainloop is served in as few passes as its bytes need.
template <class P>
void ExpectNone() {
  const arch::CpuStats stats = StatsOf<P>(SquareProblem(1, 64, 14, 128, 3, 1, 1));
  EXPECT_GT(stats.shared_phases, 1000);
  EXPECT_EQ(stats.shared_wavefronts, stats.shared_phases);
}

TEST(BankConflicts, NoneInSimt) {
  ExpectNone<Nc4ToNc32>();        // 128 x 128
  ExpectNone<Nc4ToNhwcOfAnyK>();  // 128 x 32
  ExpectNone<Nc4ToNc64>();        // 64 x 64
  ExpectNone<Nc4ToNc4>();         // 32 x 32
  ExpectNone<Nc4Sliced>();
}
#endif

}  // namespace
}  // namespace weft::conv::table
