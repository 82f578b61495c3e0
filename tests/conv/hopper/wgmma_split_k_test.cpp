// The convolutions with cluster split-K on the CPU, and under its schedules.
#include "tests/conv/hopper/wgmma_split_k_cases.hpp"
#include "tests/conv/run_schedules.hpp"

namespace weft::conv {
namespace {

// Two rounds of a cluster, with a rank that has no k tile in either.
TEST(WgmmaSplitK, Schedules) {
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, SplitK<WgmmaTile<32, 64, 32, 32, 64>, 4>>;
  RunSchedules<P>(SquareProblem(1, 96, 8, 160, 1, 0, 1), 3,
                  {arch::Copies::kDeferred, arch::Copies::kEager});
}

}  // namespace
}  // namespace weft::conv
