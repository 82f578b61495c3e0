// Threads side by side along the channels that divide no warp.
// EXPECT: static assertion failed: weft: config.lanes of a DepthwiseConfig is 1, 2, 4, 8, 16 or 32
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using FilterLayout = weft::KRSx4x4;
  using Prologue = weft::prologues::Depthwise;
  static constexpr auto config = weft::conv::DepthwiseConfig(4, 12);
};

auto op = weft::conv::Convolution<Mine>::Create({});
