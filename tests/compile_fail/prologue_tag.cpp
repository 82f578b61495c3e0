// A struct that only says that it is a prologue: nothing could read which filter it wants.
// EXPECT: static assertion failed: weft: a prologue needs `static constexpr weft::prologues::Depends kDepends`
#include "tests/compile_fail/policy_base.hpp"

struct LocalFilter {
  static constexpr bool kIsPrologue = true;
  static constexpr bool kConstantOverTile = false;
  static constexpr const char* kName = "LocalFilter";
};
struct Mine : Base {
  using Prologue = LocalFilter;
};

auto op = weft::conv::Convolution<Mine>::Create({});
