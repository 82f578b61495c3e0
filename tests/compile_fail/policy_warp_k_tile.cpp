// Warps that share a k tile of a mainloop that has no way of adding up their sums.
// EXPECT: static assertion failed: weft: config.warp must equal config.threadblock in k; only the
// mainloops simt, simt_async and mma_sm80 let warps share a k tile
#include "tests/compile_fail/policy_mma_sm75_base.hpp"

struct Mine : MmaSm75Base {
  static constexpr auto config = weft::conv::MmaSm75Config({64, 64, 64}, {32, 32, 32});
};

auto op = weft::conv::Convolution<Mine>::Create({});
