// A cluster of four whose blocks would store ten rows each.
// EXPECT: static assertion failed: weft: config.cluster_split_k of wgmma_sm90 is 1, 2, 4 or 8, and config.warp.m a multiple of
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr auto config =
      weft::gemm::WithClusterSplitK(weft::conv::WgmmaSm90Config({80, 64, 64}, {80, 64, 64}), 4);
};

auto op = weft::conv::Convolution<Mine>::Create({});
