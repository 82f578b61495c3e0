// A filter packed for another FilterLayout.
// EXPECT: static assertion failed: weft: this filter was packed in another format than the operator's FilterLayout
// MAX_ERRORS: 1
#include "tests/compile_fail/policy_base.hpp"

void Run(const weft::conv::Convolution<Base>& op, const std::int8_t* x,
         weft::PackedFilter<weft::CxRSKx<32>> filter, const float* b, std::int8_t* y) {
  (void)op.RunOnCpu({.src = x, .filter = filter, .bias = b, .dst = y});
}
