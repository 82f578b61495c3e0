// The operators of condconv_bench: the same tiles of wgmma_sm90 over NCxHWx<32> with a filter for
// each image, and with one for all.
#pragma once

#include <cstdint>

#include "perf/bench/tiles.hpp"
#include "weft/conv/policy.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::perf::condconv {

template <class PrologueT, class Tile>
struct Policy {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = CxRSKx<32>;
  using DstLayout = NCxHWx<32>;
  using Prologue = PrologueT;
  using Epilogue = epilogues::BiasRelu<>;
  static constexpr auto config = Tile::config;
};
template <class Tile>
using Mixed = Policy<prologues::PerSample, Tile>;
template <class Tile>
using Plain = Policy<prologues::SharedFilter, Tile>;

// Images of ResNet-50 have 3136, 784, 196 and 49 pixels.
using Tiles = TilesFrom<2, conv::Wgmma208x128, conv::Wgmma64x64, conv::Wgmma192x64,
                        conv::Wgmma112x64, conv::Wgmma64x128, conv::Wgmma96x128Deep,
                        conv::Wgmma256x64PingPong, conv::Wgmma128x64PingPong>;
using MixedTiles = PoliciesOf<Mixed, Tiles>;
using PlainTiles = PoliciesOf<Plain, Tiles>;

using Operators = gemm::JoinFamilies<MixedTiles, PlainTiles>;

}  // namespace weft::perf::condconv
