// The operators of deconv_bench over NCxHWx<32>, and two of them with zero points.
#pragma once

#include "perf/bench/tiles.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::perf::deconv {

template <class Tile>
using Relu = conv::S8Deconv32<epilogues::BiasRelu<>, NCxHWx<32>, Tile>;
template <class Tile>
using SourceZero = conv::S8Deconv32<
    epilogues::Chain<epilogues::SourceZeroPoint, epilogues::Scale, epilogues::Bias<>,
                     epilogues::Relu, epilogues::ClampTo<std::int8_t>>,
    NCxHWx<32>, Tile>;
template <class Tile>
using BothZeros = conv::S8Deconv32<
    epilogues::Chain<epilogues::SourceZeroPoint, epilogues::FilterZeroPoint, epilogues::Scale,
                     epilogues::Bias<>, epilogues::Relu, epilogues::ClampTo<std::int8_t>>,
    NCxHWx<32>, Tile>;

// All, and those that zero points are measured over, which are among them.
using Tiles = TilesFrom<2, conv::Wgmma64x64, conv::Wgmma208x128, conv::Wgmma192x64,
                        conv::Wgmma128x256, conv::Wgmma192x128, conv::Wgmma96x128,
                        conv::Wgmma96x128Deep, conv::Wgmma128x64PingPong>;
using ZeroTiles = TilesFrom<1, conv::Wgmma64x64, conv::Wgmma192x64>;

using Operators = gemm::JoinFamilies<PoliciesOf<Relu, Tiles>, PoliciesOf<SourceZero, ZeroTiles>,
                                     PoliciesOf<BothZeros, ZeroTiles>>;

}  // namespace weft::perf::deconv
