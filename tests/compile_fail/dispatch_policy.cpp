// A policy where a family is expected.
// EXPECT: static assertion failed: weft: Dispatch takes a Family<policies...>; one policy is an
// operator by itself
#include "tests/compile_fail/policy_base.hpp"
#include "weft/conv/dispatch.hpp"

auto op = weft::conv::Dispatch<Base>::Create({});
