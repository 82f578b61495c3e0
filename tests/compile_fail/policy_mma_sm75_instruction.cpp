// Another mainloop's instruction.
// EXPECT: static assertion failed: weft: config.instruction of the mma_sm75 mainloop is {8, 8, 16}
#include "tests/compile_fail/policy_mma_sm75_base.hpp"

struct Mine : MmaSm75Base {
  static constexpr weft::conv::Config config = [] {
    auto c = weft::conv::MmaSm75Config({64, 64, 64}, {32, 32, 64});
    c.instruction = {16, 8, 32};
    return c;
  }();
};

auto op = weft::conv::Convolution<Mine>::Create({});
