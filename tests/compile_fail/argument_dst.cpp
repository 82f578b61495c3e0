// A destination of another type than the output stage writes.
// EXPECT: static assertion failed: weft: args.dst \(c of a GEMM\) points to another type than the
// policy's output stage writes: ClampTo<T> and RoundTo<T> write T
#include "tests/compile_fail/policy_base.hpp"

void Run(const weft::conv::Convolution<Base>& op, const std::int8_t* x, const float* b,
         const weft::PackedFilter<weft::CxRSKx<4>>& filter, float* y) {
  (void)op.RunOnCpu({.src = x, .filter = filter, .bias = b, .dst = y});
}
