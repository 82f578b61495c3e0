// The kernels under every schedule of the executor, and their shared-memory bank conflicts.
#include <gtest/gtest.h>

#include "tests/conv/policies.hpp"
#include "tests/conv/run_schedules.hpp"

namespace weft::conv {
namespace {

using Small = TestPolicy<NCxHWx<4>, epilogues::BiasRelu<>>;
using Large = TestPolicy<NCxHWx<32>, epilogues::BiasHSwish<>, Tile<128, 64, 32, 64, 32, 8, 8>>;

using Sliced = TestPolicy<NCxHWx<4>, epilogues::BiasRelu<>, Tile<32, 32, 128, 32, 16, 4, 4, 4, 32>>;

TEST(ConvolutionSchedules, Im2col) {
  RunSchedules<Small>(SquareProblem(1, 20, 7, 40, 3, 1, 1));
  RunSchedules<Large, reference::HSwishActivation>(SquareProblem(1, 20, 9, 70, 3, 1, 2));
}

TEST(ConvolutionSchedules, SlicedK) {
  RunSchedules<Sliced>(SquareProblem(1, 50, 7, 40, 3, 1, 1));
  RunSchedules<Sliced>(SquareProblem(1, 150, 6, 40, 1, 0, 1));
}

TEST(ConvolutionSchedules, Pointwise) {
  RunSchedules<Small>(SquareProblem(1, 70, 6, 40, 1, 0, 1));
  RunSchedules<Large, reference::HSwishActivation>(SquareProblem(1, 70, 9, 70, 1, 0, 1));
}

// Every shared-memory access of the mainloop is served in as few passes as its bytes need.
template <class P>
double WavefrontsPerPhase() {
  arch::CpuStats stats;
  RunOptions options;
  options.stats = &stats;
  ExpectMatchesReference<P>(SquareProblem(1, 64, 14, 128, 3, 1, 1), reference::ReluActivation{},
                            options);
  EXPECT_GT(stats.shared_phases, 1000);
  return static_cast<double>(stats.shared_wavefronts) / static_cast<double>(stats.shared_phases);
}

template <class TileT>
using Relu = TestPolicy<NCxHWx<4>, epilogues::BiasRelu<>, TileT>;

TEST(ConvolutionBankConflicts, None) {
  EXPECT_EQ((WavefrontsPerPhase<Relu<Tile<128, 128, 32, 64, 32, 8, 8>>>()), 1.0);
  EXPECT_EQ((WavefrontsPerPhase<Relu<Tile<128, 32, 32, 64, 32, 8, 8>>>()), 1.0);
  EXPECT_EQ((WavefrontsPerPhase<Relu<Tile<64, 64, 32, 32, 32, 4, 8>>>()), 1.0);
  EXPECT_EQ((WavefrontsPerPhase<Relu<Tile<32, 32, 32, 32, 16, 4, 4>>>()), 1.0);
  EXPECT_EQ((WavefrontsPerPhase<Relu<Tile<32, 32, 128, 32, 16, 4, 4, 4, 32>>>()), 1.0);
}

}  // namespace
}  // namespace weft::conv
