// Warpgroups in turn, whose blocks would exchange sums in step.
// EXPECT: static assertion failed: weft: config.turns of wgmma_sm90 is 1 or 2, and with 2 config.split is 1
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr auto config = weft::gemm::WithSplit(
      weft::conv::InTurns(weft::conv::WgmmaSm90Config({64, 64, 64}, {64, 64, 64})), 2);
};

auto op = weft::conv::Convolution<Mine>::Create({});
