// The tensor-core kernels over NCxHWx<32> under every schedule of the executor, and their
// shared-memory bank conflicts.
#include <gtest/gtest.h>

#include "tests/conv/nc32_policies.hpp"
#include "tests/conv/run_schedules.hpp"
#include "tests/conv/wgmma_policies.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

template <class TileT>
using Relu = Nc32Policy<NCxHWx<32>, epilogues::BiasRelu<>, TileT>;

template <class P>
void RunBothCursors() {
  for (const Problem& p :
       {SquareProblem(1, 70, 7, 40, 3, 1, 1), SquareProblem(1, 200, 9, 70, 1, 0, 2)}) {
    RunSchedules<P>(p, 4, {arch::Copies::kDeferred, arch::Copies::kEager});
  }
}

TEST(MmaSchedules, Sm75) {
  RunBothCursors<Relu<MmaSm75Tile<64, 64, 64, 32, 32>>>();
  RunBothCursors<Relu<ArticleTile>>();
}

TEST(MmaSchedules, Sm80) {
  RunBothCursors<Relu<MmaSm80Tile<64, 64, 64, 32, 32, 3>>>();
  RunBothCursors<Relu<MmaSm80Tile<32, 32, 32, 32, 32, 4>>>();
}

TEST(MmaSchedules, WarpsShareSlices) {
  const Problem p = SquareProblem(1, 70, 7, 40, 3, 1, 1);
  const auto copies = {arch::Copies::kDeferred, arch::Copies::kEager};
  RunSchedules<Relu<SlicedTile<16, 64, 128, 16, 32, 64, 3>>>(p, 2, copies);
  RunSchedules<Int4Filter<Relu<SlicedTile<32, 32, 128, 16, 32, 32, 4>>>>(p, 2, copies);
}

// Copies of the engine arrive when they like, warps run in any order, blocks take several tiles.
TEST(MmaSchedules, WgmmaSm90) {
  using Small = WgmmaPolicy<NCxHWx<32>, epilogues::BiasRelu<>, WgmmaTile<32, 64, 64, 32, 64, 2>>;
  RunBothCursors<Small>();
  using Groups =
      WgmmaPolicy<NHWC, epilogues::ResidualBiasRelu<>, WgmmaTile<48, 128, 96, 24, 128, 1, 2>>;
  RunSchedules<Groups>(SquareProblem(2, 70, 7, 40, 3, 1, 1), 4,
                       {arch::Copies::kDeferred, arch::Copies::kEager});
}

// Every ldmatrix is served in as few passes as its bytes need.
template <class P>
arch::CpuStats CountConflicts() {
  arch::CpuStats stats;
  RunOptions options;
  options.stats = &stats;
  ExpectMatchesReference<P>(SquareProblem(1, 128, 14, 128, 3, 1, 1), reference::ReluActivation{},
                            options);
  EXPECT_GT(stats.ldmatrix_phases, 100);
  EXPECT_EQ(stats.ldmatrix_wavefronts, stats.ldmatrix_phases);
  return stats;
}

// The register-staged mainloop's stores to shared memory as well.
template <class P>
void ExpectNoConflictsStaged() {
  const arch::CpuStats stats = CountConflicts<P>();
  EXPECT_GT(stats.shared_phases, 100);
  EXPECT_EQ(stats.shared_wavefronts, stats.shared_phases);
}

TEST(MmaBankConflicts, NoneInSm75) {
  ExpectNoConflictsStaged<Relu<MmaSm75Tile<128, 128, 64, 64, 32>>>();
  ExpectNoConflictsStaged<Relu<MmaSm75Tile<128, 32, 64, 64, 32>>>();
  ExpectNoConflictsStaged<Relu<MmaSm75Tile<64, 64, 32, 32, 32>>>();
  ExpectNoConflictsStaged<Relu<ArticleTile>>();
}

TEST(MmaBankConflicts, NoneInSm80) {
  CountConflicts<Relu<MmaSm80Tile<128, 128, 64, 64, 32, 3>>>();
  CountConflicts<Relu<MmaSm80Tile<128, 32, 64, 64, 32, 3>>>();
  CountConflicts<Relu<MmaSm80Tile<64, 64, 32, 32, 32, 4>>>();
  CountConflicts<Relu<SlicedTile<32, 32, 128, 16, 32, 32, 3>>>();
}

// The way of residuals and outputs through shared memory.
TEST(MmaBankConflicts, NoneInSm90) {
  using Added = epilogues::ResidualBiasRelu<>;
  ExpectNoConflictsStaged<WgmmaPolicy<NCxHWx<32>, Added, WgmmaTile<64, 128, 64, 64, 64>>>();
  ExpectNoConflictsStaged<WgmmaPolicy<NCxHWx<32>, Added, WgmmaTile<64, 128, 64, 64, 128>>>();
  ExpectNoConflictsStaged<WgmmaPolicy<NHWC, Added, WgmmaTile<64, 192, 64, 64, 192>>>();
  ExpectNoConflictsStaged<WgmmaPolicy<NCxHWx<4>, Added, WgmmaTile<64, 64, 64, 64, 64, 1, 4>>>();
}

}  // namespace
}  // namespace weft::conv
