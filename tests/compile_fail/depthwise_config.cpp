// A filter for each channel through a mainloop of products.
// EXPECT: static assertion failed: weft: prologues::Depthwise goes with a DepthwiseConfig
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Prologue = weft::prologues::Depthwise;
};

auto op = weft::conv::Convolution<Mine>::Create({});
