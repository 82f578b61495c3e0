// A layout of tensors.
// EXPECT: static assertion failed: weft: LayoutA, LayoutB and LayoutC of a GEMM are weft::layouts::RowMajor or
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using LayoutB = weft::NHWC;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
