// B of unsigned bytes, which is of signed ones beside an A of unsigned ones.
// EXPECT: static assertion failed: weft: args.b of a GEMM does not point to the policy.s Element
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = std::uint8_t;
};

void Run(const weft::gemm::Gemm<Mine>& op, const std::uint8_t* a, const float* bias,
         std::int8_t* c) {
  (void)op.RunOnCpu({.a = a, .b = a, .bias = bias, .c = c});
}
