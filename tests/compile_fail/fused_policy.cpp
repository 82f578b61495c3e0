// A policy of a convolution, in the place of one of two.
// EXPECT: static assertion failed: weft: a policy of DepthwisePointwise needs the types Element, SrcLayout
#include "tests/compile_fail/policy_base.hpp"
#include "weft/conv/depthwise_pointwise.hpp"

struct Mine : Base {};

auto op = weft::conv::DepthwisePointwise<Mine>::Create({}, 1);
