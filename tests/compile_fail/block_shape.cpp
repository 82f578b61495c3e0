// More columns than a block's product has.
// EXPECT: static assertion failed: weft: config.shape of a block's product is 1 to 1024 in m and n, 1 to 65536 in k; take tiles
#include "tests/compile_fail/block_base.hpp"

struct Mine : BlockBase {
  static constexpr auto config = WithShape({64, 1025, 64}, 1024);
};

weft::gemm::Block<Mine>::SharedStorage shared;
