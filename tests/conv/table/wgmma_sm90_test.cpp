// On the CPU, under every schedule, and without bank conflicts.
#include "tests/conv/table/rows/wgmma_sm90_rows.hpp"
#include "tests/conv/table/schedules.hpp"

namespace weft::conv::table {
namespace {

// Copies of TMA arrive when they like, warps run in any order, blocks take several tiles.
TEST(Schedules, WgmmaSm90) {
  ExpectExactOnEverySchedule<Nc32ToNc32>();
#if !WEFT_ONE_OF_EACH_KIND
  ExpectExactOnEverySchedule<NhwcToNhwc>();
  ExpectExactOnEverySchedule<Nc32ToNhwc>();  // warpgroups side by side, a residual
#endif
}

// With a filter that stays in shared memory, and one that comes with each k tile.
TEST(Schedules, WgmmaSm90FiltersOfInt4) {
  ExpectExactOnEverySchedule<Nc32FilterS4>();
#if !WEFT_ONE_OF_EACH_KIND
  ExpectExactOnEverySchedule<Nc32FilterS4SplitK>();
#endif
}

#if !WEFT_ONE_OF_EACH_KIND
// The way of residuals and outputs through shared memory.
TEST(BankConflicts, NoneInWgmmaSm90) {
  const auto none = [](const arch::CpuStats& stats) {
    EXPECT_GT(stats.shared_phases, 100);
    EXPECT_EQ(stats.shared_wavefronts, stats.shared_phases);
    EXPECT_EQ(stats.ldmatrix_wavefronts, stats.ldmatrix_phases);
  };
  none(StatsOf<Nc32FourWarpgroups>());
  none(StatsOf<Nc32SplitKByEight>());
  none(StatsOf<Nc32ToNhwc>());
  none(StatsOf<Nc32SharedColumns>());  // to NCxHWx<4>
}
#endif

}  // namespace
}  // namespace weft::conv::table
