// The instruction of int8 with operands of half.
// EXPECT: static assertion failed: weft: config.instruction of the mma_sm80 mainloop is
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = weft::Half;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
