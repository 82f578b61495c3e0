// Ping-pong warpgroups, whose blocks would exchange sums in step.
// EXPECT: static assertion failed: weft: config.ping_pong of wgmma_sm90 is false, or config.cluster_split_k is 1
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr auto config = weft::gemm::WithClusterSplitK(
      weft::conv::WithPingPong(weft::conv::WgmmaSm90Config({64, 64, 64}, {64, 64, 64})), 2);
};

auto op = weft::conv::Convolution<Mine>::Create({});
