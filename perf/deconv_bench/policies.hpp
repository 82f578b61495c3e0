// The operators of deconv_bench over NCxHWx<32>, and two of them with zero points. perf/operators.cmake
// compiles these.
#pragma once

#include <tuple>

#include "weft/conv/ready_made.hpp"

namespace weft::perf {

template <class Tile>
using DeconvRelu = conv::S8Deconv32<epilogues::BiasRelu<>, NCxHWx<32>, Tile>;
template <class Tile>
using DeconvSourceZero = conv::S8Deconv32<
    epilogues::Chain<epilogues::SourceZeroPoint, epilogues::Scale, epilogues::Bias<>,
                     epilogues::Relu, epilogues::ClampTo<std::int8_t>>,
    NCxHWx<32>, Tile>;
template <class Tile>
using DeconvBothZeros = conv::S8Deconv32<
    epilogues::Chain<epilogues::SourceZeroPoint, epilogues::FilterZeroPoint, epilogues::Scale,
                     epilogues::Bias<>, epilogues::Relu, epilogues::ClampTo<std::int8_t>>,
    NCxHWx<32>, Tile>;

// Those that have GPU code are tried; of zero points the second list.
using DeconvTiles = std::tuple<conv::Wgmma128x256, conv::Wgmma208x128, conv::Wgmma192x128,
                               conv::Wgmma192x64, conv::Wgmma96x128, conv::Wgmma64x64,
                               conv::Wgmma96x128Deep, conv::Wgmma128x64PingPong>;
using DeconvZeroTiles = std::tuple<conv::Wgmma192x64, conv::Wgmma64x64>;

}  // namespace weft::perf
