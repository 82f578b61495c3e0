// A filter of floats where the operator multiplies int8.
// EXPECT: static assertion failed: weft: this filter is packed for another format .or element type. than the policy's FilterLayout
#include "tests/compile_fail/policy_base.hpp"

void Run(const weft::conv::Convolution<Base>& op, const std::int8_t* x,
         weft::PackedFilter<weft::CxRSKx<4>, float> filter, const float* b, std::int8_t* y) {
  (void)op.RunOnCpu({.src = x, .filter = filter, .bias = b, .dst = y});
}
