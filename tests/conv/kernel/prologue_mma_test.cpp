// On the CPU, and under every schedule: where batches end, tiles are cut off, and a missing wait shows there first.
#include "tests/conv/kernel/prologue_mma_cases.hpp"
#include "tests/conv/run_schedules.hpp"

namespace weft::conv {
namespace {

TEST(PrologueMmaSchedules, EveryOne) {
  const auto run = [](auto type) {
    using P = typename decltype(type)::type;
    RunSchedules<P>(FitTo<P>(SquareProblem(3, 20, 5, 36, 3, 1, 2), 2), 3);
    RunSchedules<P>(FitTo<P>(SquareProblem(2, 70, 4, 36, 1, 0, 1), 2), 3);
  };
  run(std::type_identity<MmaPerSample>());
  run(std::type_identity<MmaLocalFilter>());
  run(std::type_identity<MmaGrouped>());
  run(std::type_identity<
      Nc32Prologue<LocalBlock<8, 8>, NCxHWx<32>, 32, 64, 64, 32, 32, 3, 8>>());  // of MoreThanATile
}

}  // namespace
}  // namespace weft::conv
