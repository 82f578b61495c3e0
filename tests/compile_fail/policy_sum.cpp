// A convolution of bytes with sums of halves.
// EXPECT: static assertion failed: weft: Sum or FilterElement of a convolution, where a policy has it
// MAX_ERRORS: 1
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Sum = weft::Half;
};

auto op = weft::conv::Convolution<Mine>::Create({});
