// An N that wgmma does not have.
// EXPECT: static assertion failed: weft: config.warp of wgmma_sm90 is a warpgroup's share: m is 8 to 32 by 8 or a
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr weft::conv::WgmmaSm90Config config{{40, 64, 64}, {40, 64, 64}};
};

auto op = weft::conv::Convolution<Mine>::Create({});
