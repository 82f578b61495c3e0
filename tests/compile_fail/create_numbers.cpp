// Numbers in the place of a Problem.
// EXPECT: static assertion failed: weft: Create takes a Problem, whose fields have names
#include "tests/compile_fail/policy_base.hpp"

auto op = weft::conv::Convolution<Base>::Create(1, 32, 8, 8, 64, 3, 3);
