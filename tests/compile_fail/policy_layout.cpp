// A source layout that this mainloop cannot read.
// EXPECT: static assertion failed: weft: the simt mainloop reads SrcLayout NCxHWx<4> with
// FilterLayout CxRSKx<4>
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
