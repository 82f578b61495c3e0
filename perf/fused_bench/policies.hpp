// The operators of fused_bench over NCxHWx<32>: depthwise and 1x1 convolution as one kernel, and as
// two.
#pragma once

#include <cstdint>

#include "perf/bench/tiles.hpp"
#include "weft/conv/policy/depthwise_pointwise_policy.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::perf::fused {

// As in MobileNet-V2: ReLU6 after the depthwise convolution, which the clamp to int8 is where 127
// stands for 6, and nothing after the other.
using DepthwiseStages = epilogues::BiasRelu<>;
using PointwiseStages = epilogues::BiasIdentity<>;

// rows x warps x warp_n of a DepthwisePointwiseConfig.
template <int rows, int warps, int warp_n>
struct Fused {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using DstLayout = NCxHWx<32>;
  using DepthwiseEpilogue = DepthwiseStages;
  using Epilogue = PointwiseStages;
  static constexpr auto config =
      conv::DepthwisePointwiseConfig(rows, warps, warp_n, warp_n == 16 ? 4 : 8);
};
template <class FusedTile>
using Same = FusedTile;
using FusedTiles =
    PoliciesOf<Same,
               TilesFrom<2, Fused<7, 3, 16>, Fused<2, 12, 16>, Fused<7, 1, 16>, Fused<7, 2, 16>,
                         Fused<7, 6, 16>, Fused<4, 3, 16>, Fused<4, 3, 32>, Fused<4, 6, 16>,
                         Fused<2, 3, 32>, Fused<2, 6, 16>, Fused<1, 6, 32>, Fused<1, 12, 16>,
                         Fused<4, 1, 16>, Fused<4, 2, 16>, Fused<2, 3, 16>>>;

struct Depthwise2x8 {
  static constexpr auto config = conv::DepthwiseConfig(2, 8);
};
struct Depthwise7x8Small {
  static constexpr auto config = conv::DepthwiseConfig(7, 8, 64);
};
template <class Tile>
using First = conv::S8Depthwise32<DepthwiseStages, NCxHWx<32>, Tile>;
using FirstTiles = PoliciesOf<
    First, TilesFrom<1, conv::Depthwise7x8, conv::Depthwise4x8, Depthwise2x8, Depthwise7x8Small>>;

template <class Tile>
using Second = conv::S8Conv32<PointwiseStages, NCxHWx<32>, Tile>;
using SecondTiles =
    PoliciesOf<Second,
               TilesFrom<1, conv::Wgmma112x64, conv::Wgmma192x64, conv::Wgmma96x128,
                         conv::Wgmma64x128, conv::Wgmma128x128, conv::Wgmma64x64, conv::Wgmma32x64,
                         conv::Mma128x32, conv::Wgmma96x128Deep, conv::Wgmma256x64PingPong>>;

using Operators = gemm::JoinFamilies<FusedTiles, FirstTiles, SecondTiles>;

}  // namespace weft::perf::fused
