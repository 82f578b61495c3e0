// A result where nothing can be written.
// EXPECT: static assertion failed: weft: args.dst \(c of a GEMM\) is const, and a run writes to it
#include "tests/compile_fail/policy_base.hpp"

const std::vector<std::int8_t> result(32);
auto status = weft::conv::Convolution<Base>::Create({})->RunOnCpu({.dst = result});
