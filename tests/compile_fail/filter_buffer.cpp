// The buffer where its view is expected.
// EXPECT: static assertion failed: weft: args.filter is a PackedFilter, not the buffer that owns it;
// pass its view\(\)
#include "tests/compile_fail/policy_base.hpp"

void Run(const weft::conv::Convolution<Base>& op, const std::int8_t* x, const float* b,
         const weft::PackedFilterBuffer<weft::CxRSKx<4>>& filter, std::int8_t* y) {
  (void)op.RunOnCpu({.src = x, .filter = filter, .bias = b, .dst = y});
}
