// Nor the tensor cores' mainloop for float.
// EXPECT: static assertion failed: weft: tensor-core GEMMs multiply Element = std::int8_t, std::uint8_t, weft::Half,
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = float;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
