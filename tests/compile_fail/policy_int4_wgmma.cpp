// Filters of int4 whose rows are no whole blocks.
// EXPECT: static assertion failed: weft: the mainloop of this policy's config does not read its SrcLayout with its FilterLayout
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NHWC;
  using FilterLayout = weft::PackedInt4<weft::KRSC>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr auto config = weft::conv::kWgmma64x64;
};

auto op = weft::conv::Convolution<Mine>::Create({});
