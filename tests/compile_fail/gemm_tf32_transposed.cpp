// Boxes of tf32 are transposed 32 k at a time.
// EXPECT: static assertion failed: weft: config.threadblock.k of a wgmma_sm90 GEMM of Tf32 is 32, and of bytes 128, where k
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = weft::Tf32;
  using LayoutB = weft::layouts::RowMajor;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::ToSums<float>>;
  static constexpr weft::gemm::WgmmaSm90Config config{{128, 128, 64}, {128, 64, 64}, 1, 4};
};

auto op = weft::gemm::Gemm<Mine>::Create({});
