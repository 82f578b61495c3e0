// Nor the tensor cores' mainloop for float.
// EXPECT: static assertion failed: weft: the mma_sm80 GEMM multiplies Element = std::int8_t, weft::Half or
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = float;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
