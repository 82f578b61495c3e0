// A filter format where a prologue is expected.
// EXPECT: static assertion failed: weft: a prologue needs `static constexpr weft::prologues::Depends kDepends`
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Prologue = weft::CxRSKx<4>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
