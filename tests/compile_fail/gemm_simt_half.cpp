// The simt mainloop has no arithmetic for 16-bit floats.
// EXPECT: static assertion failed: weft: the simt GEMM multiplies Element = std::int8_t, std::uint8_t, float, double or
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = weft::Half;
  static constexpr auto config = weft::gemm::kSimtFloat64x64;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
