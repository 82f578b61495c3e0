// Zero points in a matrix product.
// EXPECT: static assertion failed: weft: SourceZeroPoint and FilterZeroPoint are stages of convolutions
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Epilogue = weft::epilogues::ConvInteger;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
