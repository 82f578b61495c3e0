// A warp cannot hold 256 x 128 sums.
// EXPECT: static assertion failed: weft: config.shape of a block's product is too large for config.threads
#include "tests/compile_fail/block_base.hpp"

struct Mine : BlockBase {
  static constexpr auto config = WithShape({256, 128, 64}, 32);
};

weft::gemm::Block<Mine>::SharedStorage shared;
