// Nor 8-bit floats.
// EXPECT: static assertion failed: weft: the wgmma_sm90 GEMM of bytes or 8-bit floats takes a row-major A and a column-major B,
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = weft::Float8E4m3;
  using LayoutB = weft::layouts::RowMajor;
  static constexpr weft::gemm::WgmmaSm90Config config{{128, 128, 128}, {128, 64, 128}};
};

auto op = weft::gemm::Gemm<Mine>::Create({});
