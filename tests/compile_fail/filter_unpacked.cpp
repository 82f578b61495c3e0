// A raw pointer where a packed filter is expected.
// EXPECT: static assertion failed: weft: this filter is not packed; call weft::PackFilter<Format>
#include "tests/compile_fail/policy_base.hpp"

void Run(const weft::conv::Convolution<Base>& op, const std::int8_t* x, const float* b,
         std::int8_t* y) {
  const std::int8_t* filter = x;
  (void)op.RunOnCpu({.src = x, .filter = filter, .bias = b, .dst = y});
}
