// A misspelt argument of Arguments that are written with their type: the compiler's own words name it.
// EXPECT: ConvolutionArguments.* has no non-static data member named 'source'
#include "tests/compile_fail/policy_base.hpp"

using Op = weft::conv::Convolution<Base>;
void Run(const Op& op, const std::int8_t* x, const weft::PackedFilter<weft::CxRSKx<4>>& filter,
         std::int8_t* y) {
  (void)op.RunOnCpu(Op::Arguments{.source = x, .filter = filter, .dst = y});
}
