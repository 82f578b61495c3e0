// 192 sums and two blocks to a multiprocessor.
// EXPECT: static assertion failed: weft: the sums of a warpgroup of this config of wgmma_sm90 leave its threads too
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr weft::conv::WgmmaSm90Config config{{128, 192, 64}, {128, 192, 64}, 2};
};

auto op = weft::conv::Convolution<Mine>::Create({});
