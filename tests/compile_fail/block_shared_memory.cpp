// 64 KB of A and 256 KB of B.
// EXPECT: static assertion failed: weft: A and B of a block's product need more than 227 KB of shared memory
#include "tests/compile_fail/block_base.hpp"

struct Mine : BlockBase {
  static constexpr auto config = WithShape({64, 256, 512}, 256);
};

weft::gemm::Block<Mine>::SharedStorage shared;
