// Ping-pong warpgroups on the CPU, and under its schedules.
#include "tests/conv/wgmma_ping_pong_cases.hpp"

#include <gmock/gmock.h>

#include "tests/conv/run_schedules.hpp"
#include "weft/gemm/choose/tuning.hpp"

namespace weft::conv {
namespace {

TEST(WgmmaPingPong, Schedules) {
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, PingPong<WgmmaTile<16, 64, 64, 16, 64, 2>>>;
  RunSchedules<P>(SquareProblem(2, 96, 9, 20, 3, 1, 1), 2,
                  {arch::Copies::kDeferred, arch::Copies::kEager});
}

TEST(WgmmaPingPong, TheNameSaysSo) {
  constexpr auto config = PingPong<WgmmaTile<128, 128, 128, 128, 128>>::config;
  EXPECT_EQ(gemm::PolicyName(config), "wgmma_sm90_128x128x128_w128x128x128_b1_p2_a16_d16");
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, PingPong<WgmmaTile<64, 64, 64, 64, 64>>>;
  EXPECT_THAT(Convolution<P>::Create(SquareProblem(1, 32, 5, 64, 3, 1, 1))->Describe(),
              testing::HasSubstr("ping-pong warpgroups"));
}

}  // namespace
}  // namespace weft::conv
