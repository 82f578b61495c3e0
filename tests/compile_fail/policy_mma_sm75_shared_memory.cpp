// More shared memory than an sm_75 GPU has.
// EXPECT: static assertion failed: weft: config.threadblock of the mma_sm75 mainloop needs more than
// 64 KB of shared memory, the most an sm_75 GPU gives one block
#include "tests/compile_fail/policy_mma_sm75_base.hpp"

struct Mine : MmaSm75Base {
  static constexpr auto config = weft::conv::MmaSm75Config({256, 128, 128}, {64, 64, 128});
};

auto op = weft::conv::Convolution<Mine>::Create({});
