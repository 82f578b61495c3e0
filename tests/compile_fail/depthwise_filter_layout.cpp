// A filter format of products.
// EXPECT: static assertion failed: weft: a DepthwiseConfig reads SrcLayout NCxHWx<x> or NHWC with FilterLayout KRSx4x4
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Prologue = weft::prologues::Depthwise;
  static constexpr auto config = weft::conv::kDepthwise4;
};

auto op = weft::conv::Convolution<Mine>::Create({});
