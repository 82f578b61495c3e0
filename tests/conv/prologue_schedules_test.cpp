// Prologues under every schedule of the executor: where batches end, tiles are cut off, and a
// missing wait shows there first.
#include "tests/conv/prologue_cases.hpp"

namespace weft::conv {
namespace {

using prologues::Grouped;
using prologues::LocalBlock;
using prologues::LocalFilter;
using prologues::PerSample;

template <class P>
void RunSchedules(const Problem& corner) {
  const Problem problem = FitTo<P>(corner, 2);
  for (const arch::Schedule schedule : {arch::Schedule::kForward, arch::Schedule::kReverse,
                                        arch::Schedule::kPriority, arch::Schedule::kRandom}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      RunOptions options;
      options.cpu.schedule = schedule;
      options.cpu.seed = seed;
      options.cpu.workers = 1 + static_cast<int>(seed) % 2;
      ExpectMatchesReference<P>(problem, reference::ReluActivation{}, options);
    }
  }
}

template <class PrologueT>
void RunBoth() {
  for (const Problem& corner :
       {SquareProblem(3, 20, 5, 36, 3, 1, 2), SquareProblem(2, 70, 4, 36, 1, 0, 1)}) {
    RunSchedules<Nc4Prologue<PrologueT, NCxHWx<4>>>(corner);
    RunSchedules<Nc32Prologue<PrologueT, NCxHWx<32>, 32, 64, 64, 32, 32, 3, 4>>(corner);
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
