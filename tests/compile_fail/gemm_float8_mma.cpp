// 8-bit floats are multiplied by tensor cores alone.
// EXPECT: static assertion failed: weft: a GEMM of weft::Float8E4m3, weft::Float8E5m2 or weft::Tf32 takes an
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = weft::Float8E5m2;
  static constexpr weft::gemm::SimtConfig config{{64, 64, 8}, {32, 32, 8}, {8, 4, 1}, {4, 4}};
};

auto op = weft::gemm::Gemm<Mine>::Create({});
