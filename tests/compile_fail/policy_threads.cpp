// Too many threads for the k tile.
// EXPECT: static assertion failed: weft: config.threadblock has too many threads for its k extent
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr auto config = weft::conv::SimtConfig({32, 256, 16}, {32, 16, 16}, {4, 4, 4});
};

auto op = weft::conv::Convolution<Mine>::Create({});
