// And of bytes, int8 or 8-bit floats, 128 k at a time.
// EXPECT: static assertion failed: weft: config.threadblock.k of a wgmma_sm90 GEMM of Tf32 is 32, and of bytes 128, where k
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = weft::Float8E4m3;
  using LayoutB = weft::layouts::RowMajor;
  static constexpr weft::gemm::WgmmaSm90Config config{{128, 128, 64}, {128, 64, 64}};
};

auto op = weft::gemm::Gemm<Mine>::Create({});
