// The policy that the other cases break.
// EXPECT_SUCCESS
#include "tests/compile_fail/policy_base.hpp"

auto op = weft::conv::Convolution<Base>::Create({});
