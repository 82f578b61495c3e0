// The mma_sm75 mainloop has two buffers.
// EXPECT: static assertion failed: weft: the mma_sm75 mainloop has config.stages = 2
#include "tests/compile_fail/policy_mma_sm75_base.hpp"

struct Mine : MmaSm75Base {
  static constexpr weft::conv::Config config = [] {
    auto c = weft::conv::MmaSm75Config({64, 64, 64}, {32, 32, 64});
    c.stages = 3;
    return c;
  }();
};

auto op = weft::conv::Convolution<Mine>::Create({});
