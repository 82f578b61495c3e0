// A source layout that this mainloop cannot read.
// EXPECT: static assertion failed: weft: the mainloop of this policy's config does not read its SrcLayout with its FilterLayout
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
};

const bool kUsed = Use<Mine>();
