// Sources of 4 bits where TMA leaves bytes as they are.
// EXPECT: static assertion failed: weft: the mainloop of this policy's config does not read its SrcLayout with its FilterLayout
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::PairedInt4<weft::NCxHWx<32>>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr auto config = weft::conv::kWgmma64x64;
};

auto op = weft::conv::Convolution<Mine>::Create({});
