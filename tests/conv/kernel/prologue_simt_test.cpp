// On the CPU, and under every schedule: where batches end, tiles are cut off, and a missing wait shows there first.
#include "tests/conv/kernel/prologue_simt_cases.hpp"
#include "tests/conv/run_schedules.hpp"

namespace weft::conv {
namespace {

TEST(PrologueSimtSchedules, EveryOne) {
  const auto run = [](auto type) {
    using P = typename decltype(type)::type;
    RunSchedules<P>(FitTo<P>(SquareProblem(3, 20, 5, 36, 3, 1, 2), 2), 3);
    RunSchedules<P>(FitTo<P>(SquareProblem(2, 70, 4, 36, 1, 0, 1), 2), 3);
  };
  run(std::type_identity<SimtPerSample>());
  run(std::type_identity<SimtLocalFilter>());
  run(std::type_identity<SimtBlock>());
  run(std::type_identity<SimtGrouped>());
}

}  // namespace
}  // namespace weft::conv
