// Channels of two output rows, by filters of int4.
// EXPECT: static assertion failed: weft: config.packed_rows of wgmma_sm90 is 1, but in convolutions over NCxHWx<32> and NHWC by filters of int8
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::PackedInt4<weft::CxRSKx<32>>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr auto config = weft::conv::WithPackedRows(weft::conv::kWgmma64x64, 2);
};

auto op = weft::conv::Convolution<Mine>::Create({});
