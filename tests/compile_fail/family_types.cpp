// Policies of one family that are different operators.
// EXPECT: static assertion failed: weft: the policies of a family differ in their config only
#include "tests/compile_fail/policy_base.hpp"
#include "weft/conv/dispatch.hpp"

struct Mine : Base {
  using DstLayout = weft::NCxHWx<32>;
};

auto op = weft::conv::Dispatch<weft::conv::Family<Base, Mine>>::Create({});
