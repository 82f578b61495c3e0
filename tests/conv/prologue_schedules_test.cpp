// Prologues under every schedule of the executor: where batches end, tiles are cut off, and a
// missing wait shows there first.
#include "tests/conv/prologue_cases.hpp"
#include "tests/conv/run_schedules.hpp"

namespace weft::conv {
namespace {

using prologues::Grouped;
using prologues::LocalBlock;
using prologues::LocalFilter;
using prologues::PerSample;

template <class PrologueT>
void RunBoth() {
  for (const Problem& corner :
       {SquareProblem(3, 20, 5, 36, 3, 1, 2), SquareProblem(2, 70, 4, 36, 1, 0, 1)}) {
    using Nc4 = Nc4Prologue<PrologueT, NCxHWx<4>>;
    RunSchedules<Nc4>(FitTo<Nc4>(corner, 2), 3);
    using Nc32 = Nc32Prologue<PrologueT, NCxHWx<32>, 32, 64, 64, 32, 32, 3, 4>;
    RunSchedules<Nc32>(FitTo<Nc32>(corner, 2), 3);
  }
}

TEST(PrologueSchedules, PerSample) {
  RunBoth<PerSample>();
}
TEST(PrologueSchedules, LocalFilter) {
  RunBoth<LocalFilter>();
}
TEST(PrologueSchedules, LocalBlock) {
  RunBoth<LocalBlock<2, 2>>();
}
TEST(PrologueSchedules, Grouped) {
  RunBoth<Grouped>();
}

}  // namespace
}  // namespace weft::conv
