// A store wider than the channels that lie side by side.
// EXPECT: static assertion failed: weft: config.alignment.dst does not fit DstLayout: it must be whole
// elements and divide the bytes of the channels that lie side by side there; give the policy
// WithDstAlignment(config, bytes)
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr auto config = weft::conv::SimtConfig({64, 64, 32}, {32, 32, 32}, {4, 8, 4}, 8);
};

auto op = weft::conv::Convolution<Mine>::Create({});
