// On the CPU, under every schedule, and without bank conflicts.
#include "tests/conv/table/rows/mma_sm75_rows.hpp"
#include "tests/conv/table/schedules.hpp"

namespace weft::conv::table {
namespace {

TEST(Schedules, MmaSm75) {
  ExpectExactOnEverySchedule<Nc32ToNc32>();
#if !WEFT_ONE_OF_EACH_KIND
  ExpectExactOnEverySchedule<Nc32SumBias>();
#endif
}

#if !WEFT_ONE_OF_EACH_KIND
TEST(BankConflicts, NoneInMmaSm75) {
  ExpectNoConflicts<Nc32LargeTile>();           // 128 x 128 x 64
  ExpectNoConflicts<Nc32LargeTileBySixteen>();  // 128 x 64 x 64
  ExpectNoConflicts<Nc32ToFloatNchw>();         // 64 x 64 x 32
  ExpectNoConflicts<Nc32SumBias>();             // 64 x 32 x 64
}
#endif

}  // namespace
}  // namespace weft::conv::table
