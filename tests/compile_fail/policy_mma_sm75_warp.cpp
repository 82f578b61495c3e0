// An article's warp tile with its extents taken in its own order, channels first.
// EXPECT: static assertion failed: weft: config.warp of the mma_sm75 mainloop must be a multiple of
// 16 in m (pixels) and of 32 in n (channels), and threadblock.k a multiple of 32
// MAX_ERRORS: 2
#include "tests/compile_fail/policy_mma_sm75_base.hpp"

struct Mine : MmaSm75Base {
  static constexpr auto config = weft::conv::MmaSm75Config({32, 64, 64}, {32, 16, 64});
};

auto op = weft::conv::Convolution<Mine>::Create({});
