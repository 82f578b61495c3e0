// A thread tile that does not divide the warp tile.
// EXPECT: static assertion failed: weft: config.thread must divide config.warp
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr auto config = weft::conv::SimtConfig({64, 64, 32}, {32, 32, 32}, {5, 8, 4});
};

auto op = weft::conv::Convolution<Mine>::Create({});
