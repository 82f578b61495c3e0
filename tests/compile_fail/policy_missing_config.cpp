// No config, or one of another type.
// EXPECT: static assertion failed: weft: a convolution policy needs `static constexpr auto config`
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr int config = 3;
};

const bool kUsed = Use<Mine>();
