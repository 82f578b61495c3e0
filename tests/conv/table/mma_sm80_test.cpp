// On the CPU, under every schedule, and without bank conflicts.
#include "tests/conv/table/rows/mma_sm80_rows.hpp"
#include "tests/conv/table/schedules.hpp"

namespace weft::conv::table {
namespace {

TEST(Schedules, MmaSm80) {
  ExpectExactOnEverySchedule<Nc32ToNc32>();
#if !WEFT_ONE_OF_EACH_KIND
  ExpectExactOnEverySchedule<Nc32ToNc4>();
  ExpectExactOnEverySchedule<Nc32FilterS4>();
  ExpectExactOnEverySchedule<Nc64Centred>();
#endif
}

TEST(Schedules, WarpsShareKTiles) {
  ExpectExactOnEverySchedule<Nc32Sliced>();
#if !WEFT_ONE_OF_EACH_KIND
  ExpectExactOnEverySchedule<Nc32FilterS4Sliced>();
#endif
}

#if !WEFT_ONE_OF_EACH_KIND
TEST(BankConflicts, NoneInMmaSm80) {
  ExpectNoConflictsOfLdMatrix<Nc32LargeTile>();   // 128 x 128 x 64
  ExpectNoConflictsOfLdMatrix<Nc32NarrowTile>();  // 128 x 32 x 64
  ExpectNoConflictsOfLdMatrix<Nc32ToNc4>();       // 64 x 32 x 32
  ExpectNoConflictsOfLdMatrix<Nc32Sliced>();
}

// Blocks of int4 are read from shared memory as int8 are, 8 rows at once, and half as often. Of a warp's 32 x 32
// tile, A and B are read in equal parts.
TEST(BankConflicts, NoneOfFiltersOfInt4AndHalfTheReads) {
  const arch::CpuStats int4 = ExpectNoConflictsOfLdMatrix<Nc32FilterS4>();
  const arch::CpuStats int8 = ExpectNoConflictsOfLdMatrix<Nc32ToNc32>();
  EXPECT_EQ(int4.ldmatrix_phases * 4, int8.ldmatrix_phases * 3);
}
#endif

}  // namespace
}  // namespace weft::conv::table
