// A warp tile that does not divide the block tile.
// EXPECT: static assertion failed: weft: config.warp must divide config.threadblock in m, n and k
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr auto config = weft::conv::SimtConfig({64, 64, 32}, {48, 32, 32}, {8, 8, 4});
};

auto op = weft::conv::Convolution<Mine>::Create({});
