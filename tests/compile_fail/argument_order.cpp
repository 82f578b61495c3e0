// Arguments out of order: the compiler's own words name the field.
// EXPECT: designator order for field .*::src' does not match declaration order
#include "tests/compile_fail/policy_base.hpp"

void Run(const weft::conv::Convolution<Base>& op, const std::int8_t* x,
         const weft::PackedFilter<weft::CxRSKx<4>>& filter, std::int8_t* y) {
  (void)op.RunOnCpu({.filter = filter, .src = x, .dst = y});
}
