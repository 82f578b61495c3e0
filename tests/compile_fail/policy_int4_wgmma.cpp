// Filters of int4 where the tensor cores read shared memory.
// EXPECT: static assertion failed: weft: the wgmma_sm90 mainloop has no filters of PackedInt4
// MAX_ERRORS: 1
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::PackedInt4<weft::CxRSKx<32>>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr auto config = weft::conv::kWgmma64x64;
};

auto op = weft::conv::Convolution<Mine>::Create({});
