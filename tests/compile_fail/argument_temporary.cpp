// A vector that ends before a GPU reads it.
// EXPECT: static assertion failed: weft: an argument is a temporary container, whose memory ends with this expression
#include "tests/compile_fail/policy_base.hpp"

auto status =
    weft::conv::Convolution<Base>::Create({})->RunOnCpu({.src = std::vector<std::int8_t>(16)});
