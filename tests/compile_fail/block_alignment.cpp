// A config whose alignment is left out.
// EXPECT: static assertion failed: weft: config.alignment of a block's product is to be given: 16, 8 or 4 bytes
#include "tests/compile_fail/block_base.hpp"

struct Mine : BlockBase {
  static constexpr weft::gemm::BlockConfig config{.shape = {64, 64, 64},
                                                  .mainloop = weft::gemm::Mainloop::kMmaSm80};
};

weft::gemm::Block<Mine>::SharedStorage shared;
