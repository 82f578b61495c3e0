// The mainloop of cp.async and fma has no bytes.
// EXPECT: static assertion failed: weft: bytes of a block's product take config.mainloop = kSimt, kMmaSm80
#include "tests/compile_fail/block_base.hpp"

struct Mine : weft::gemm::BlockTypes<std::int8_t, RowMajor, ColumnMajor> {
  static constexpr weft::gemm::BlockConfig config{.shape = {64, 64, 64},
                                                  .mainloop = weft::gemm::Mainloop::kSimtAsync,
                                                  .threads = 128,
                                                  .alignment = 16};
};

weft::gemm::Block<Mine>::SharedStorage shared;
