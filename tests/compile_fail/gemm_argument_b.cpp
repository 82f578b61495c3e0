// B of unsigned bytes, which is of signed ones beside an A of unsigned ones.
// EXPECT: static assertion failed: weft: this operand of args does not point to the policy's Element; b of a GEMM
// MAX_ERRORS: 1
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = std::uint8_t;
};

void Run(const weft::gemm::Gemm<Mine>& op, const std::uint8_t* a, const float* bias,
         std::int8_t* c) {
  (void)op.RunOnCpu({.a = a, .b = a, .bias = bias, .c = c});
}
