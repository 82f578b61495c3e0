// Ping-pong warpgroups over NCxHWx<4>, where warpgroups do so by themselves.
// EXPECT: static assertion failed: weft: config.ping_pong of wgmma_sm90 over NCxHWx<4> is false: warpgroups go through a tile one after the other already
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr auto config = weft::conv::WithSrcAlignment(
      weft::conv::WithPingPong(weft::conv::WgmmaSm90Config({64, 64, 32}, {64, 64, 32})), 4);
};

auto op = weft::conv::Convolution<Mine>::Create({});
