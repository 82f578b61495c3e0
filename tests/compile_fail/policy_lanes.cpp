// A warp tile that is not 32 thread tiles.
// EXPECT: static assertion failed: weft: a warp has 32 threads
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr auto config = weft::conv::SimtConfig({64, 64, 32}, {32, 32, 32}, {8, 8, 4});
};

auto op = weft::conv::Convolution<Mine>::Create({});
