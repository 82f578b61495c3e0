// A bank where the operator has one filter.
// EXPECT: static assertion failed: weft: this bank of filters was packed for another prologue than the operator's
#include "tests/compile_fail/policy_base.hpp"

using Bank = weft::PackedFilter<weft::CxRSKx<4>, std::int8_t, weft::prologues::PerSample>;

void Run(const weft::conv::Convolution<Base>& op, const std::int8_t* x, Bank bank, const float* b,
         std::int8_t* y) {
  (void)op.RunOnCpu({.src = x, .filter = bank, .bias = b, .dst = y});
}
