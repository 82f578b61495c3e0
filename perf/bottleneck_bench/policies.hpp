// The operators of bottleneck_bench over NCxHWx<32>: a bottleneck of a quantised ResNet as one kernel, and
// as a kernel for each of its convolutions.
#pragma once

#include <cstdint>

#include "perf/bench/tiles.hpp"
#include "weft/conv/policy/bottleneck_policy.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::perf::bottleneck {

// As in QOperator models of uint8.
struct Bytes : epilogues::Chain<epilogues::SumBias, epilogues::Scale, epilogues::RoundFirst,
                                epilogues::ClampTo<std::uint8_t>> {};
struct Sum : epilogues::Chain<epilogues::SumBias, epilogues::Scale, epilogues::QuantizeSteps<>,
                              epilogues::QuantizedAdd<>, epilogues::ClampTo<std::uint8_t>> {};

using FusedTileList = TilesFrom<3, conv::BottleneckTile<14, 2, 3>, conv::BottleneckTile<8, 3, 4>,
                                conv::BottleneckTile<4, 1, 2>>;
template <class Tile>
struct Identity : conv::S8Bottleneck<Bytes, Bytes, Sum, Tile> {
  using Element = std::uint8_t;
};
template <class Tile>
struct Projected : conv::ProjectedS8Bottleneck<Bytes, Bytes, Sum, Bytes, Tile> {
  using Element = std::uint8_t;
};
using IdentityTiles = PoliciesOf<Identity, FusedTileList>;
using ProjectedTiles = PoliciesOf<Projected, FusedTileList>;

using ConvolutionTileList =
    TilesFrom<2, conv::Wgmma112x64, conv::Wgmma128x128, conv::Wgmma192x64, conv::Wgmma96x128,
              conv::Wgmma64x128, conv::Wgmma64x64, conv::Wgmma32x64, conv::Wgmma256x64PingPong>;
template <class Tile>
struct ToBytes : conv::S8Conv32<Bytes, NCxHWx<32>, Tile> {
  using Element = std::uint8_t;
};
template <class Tile>
struct ToSum : conv::S8Conv32<Sum, NCxHWx<32>, Tile> {
  using Element = std::uint8_t;
};
using ToBytesTiles = PoliciesOf<ToBytes, ConvolutionTileList>;
using ToSumTiles = PoliciesOf<ToSum, ConvolutionTileList>;

using Operators = gemm::JoinFamilies<IdentityTiles, ProjectedTiles, ToBytesTiles, ToSumTiles>;

}  // namespace weft::perf::bottleneck
