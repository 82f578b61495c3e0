// A filter that was packed for another format.
// EXPECT: static assertion failed: weft: this filter is packed for another format \(or element type\)
// than the policy's FilterLayout; call weft::PackFilter<FilterLayout>
#include "tests/compile_fail/policy_base.hpp"

void Run(const weft::conv::Convolution<Base>& op, const std::int8_t* x, const float* b,
         const weft::PackedFilter<weft::CxRSKx<32>>& filter, std::int8_t* y) {
  (void)op.RunOnCpu({.src = x, .filter = filter, .bias = b, .dst = y});
}
