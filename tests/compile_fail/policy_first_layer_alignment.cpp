// A first layer over NCxHWx<4> with the config's own 16 bytes.
// EXPECT: static assertion failed: weft: config.alignment.src of wgmma_sm90 does not fit NCxHWx<4>
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using DstLayout = weft::NCxHWx<32>;
  static constexpr weft::conv::WgmmaSm90Config config{{64, 64, 32}, {32, 64, 32}};
};

auto op = weft::conv::Convolution<Mine>::Create({});
