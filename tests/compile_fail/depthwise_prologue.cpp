// A DepthwiseConfig whose filter would be shared by all channels.
// EXPECT: static assertion failed: weft: prologues::Depthwise goes with a DepthwiseConfig
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr auto config = weft::conv::kDepthwise4;
};

auto op = weft::conv::Convolution<Mine>::Create({});
