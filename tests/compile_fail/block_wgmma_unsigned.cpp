// wgmma has unsigned bytes on the other side.
// EXPECT: static assertion failed: weft: unsigned bytes of a block's product take config.mainloop = kSimt or kMmaSm80
#include "tests/compile_fail/block_base.hpp"

struct Mine : weft::gemm::BlockTypes<std::int8_t, RowMajor, ColumnMajor> {
  using ElementA = std::uint8_t;
  static constexpr weft::gemm::BlockConfig config{.shape = {64, 64, 64},
                                                  .mainloop = weft::gemm::Mainloop::kWgmmaSm90,
                                                  .threads = 128,
                                                  .alignment = 16};
};

weft::gemm::Block<Mine>::SharedStorage shared;
