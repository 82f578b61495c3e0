// Instructions of 8-bit floats are wgmma's.
// EXPECT: static assertion failed: weft: a GEMM of weft::Float8E4m3, weft::Float8E5m2 or weft::Tf32 takes a
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = weft::Float8E5m2;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
