// A filter format of products.
// EXPECT: static assertion failed: weft: the mainloop of this policy's config does not read its SrcLayout with its FilterLayout
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Prologue = weft::prologues::Depthwise;
  static constexpr auto config = weft::conv::kDepthwise4;
};

auto op = weft::conv::Convolution<Mine>::Create({});
