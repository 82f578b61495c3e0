// 64 channels of two output rows.
// EXPECT: static assertion failed: weft: config.packed_rows of wgmma_sm90 is 1 or 2, and with 2 config.threadblock.n is 64,
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr auto config =
      weft::conv::WithPackedRows(weft::conv::WgmmaSm90Config({64, 128, 64}, {64, 128, 64}), 2);
};

auto op = weft::conv::Convolution<Mine>::Create({});
