// Three warps are no warpgroup.
// EXPECT: static assertion failed: weft: config.threads of a block's product by kWgmmaSm90 is a multiple of 128, a warpgroup
#include "tests/compile_fail/block_base.hpp"

struct Mine : BlockBase {
  static constexpr weft::gemm::BlockConfig config{.shape = {64, 64, 64},
                                                  .mainloop = weft::gemm::Mainloop::kWgmmaSm90,
                                                  .threads = 96,
                                                  .alignment = 16};
};

weft::gemm::Block<Mine>::SharedStorage shared;
