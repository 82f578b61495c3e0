// On the CPU, ping-pong warpgroups under its schedules too.
#include "tests/conv/zero_point/zero_point_wgmma_cases.hpp"

#include "tests/conv/policy/wgmma_policies.hpp"
#include "tests/conv/run_schedules.hpp"

namespace weft::conv {
namespace {

#if !defined(__SANITIZE_ADDRESS__)
TEST(WgmmaPingPong, Schedules) {
  using P =
      WgmmaPolicy<NCxHWx<32>, epilogues::BiasRelu<>, PingPong<WgmmaTile<16, 64, 64, 16, 64, 2>>>;
  RunSchedules<P>(SquareProblem(2, 96, 9, 20, 3, 1, 1), 2,
                  {arch::Copies::kDeferred, arch::Copies::kEager});
}
#endif

}  // namespace
}  // namespace weft::conv
