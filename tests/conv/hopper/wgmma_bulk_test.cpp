// Bulk copies of staged tiles on the CPU, and under its schedules.
#include "tests/conv/hopper/wgmma_bulk_cases.hpp"
#include "tests/conv/run_schedules.hpp"

namespace weft::conv {
namespace {

// Blocks with several tiles, so that a tile's copies meet those of the next.
TEST(WgmmaBulk, Schedules) {
  const auto copies = {arch::Copies::kDeferred, arch::Copies::kEager};
  const Problem dense = SquareProblem(3, 32, 11, 64, 1, 0, 1);
  RunSchedules<BulkPolicy<OddRows>>(dense, 2, copies);
  RunSchedules<BulkPolicy<PingPong<SmallTile64>>>(dense, 2, copies);
  RunSchedules<BulkPolicy<WgmmaTile<64, 64, 64, 32, 64>, BiasRelu<>>>(
      SquareProblem(2, 32, 12, 64, 3, 1, 1), 2, copies);
}

}  // namespace
}  // namespace weft::conv
