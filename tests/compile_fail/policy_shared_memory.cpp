// More shared memory than any GPU has.
// EXPECT: static assertion failed: weft: config.threadblock and config.stages need more than 227 KB
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr auto config =
      weft::conv::SimtConfig({128, 128, 1024}, {64, 32, 1024}, {8, 8, 4});
};

auto op = weft::conv::Convolution<Mine>::Create({});
