// A bias of another type than the Bias stage's.
// EXPECT: static assertion failed: weft: args.bias points to another type than the policy's bias stage
// reads: Bias<T> reads T \(float unless given\), SumBias reads std::int32_t
#include "tests/compile_fail/policy_base.hpp"

void Run(const weft::conv::Convolution<Base>& op, const std::int8_t* x, const std::int32_t* b,
         const weft::PackedFilter<weft::CxRSKx<4>>& filter, std::int8_t* y) {
  (void)op.RunOnCpu({.src = x, .filter = filter, .bias = b, .dst = y});
}
