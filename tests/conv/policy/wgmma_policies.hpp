// The operators that the tests of wgmma_sm90 run.
#pragma once

#include "weft/conv/policy.hpp"

namespace weft::conv {

template <int block_m, int block_n, int block_k, int warp_m, int warp_n, int blocks_per_sm = 1,
          int dst_alignment = 16>
struct WgmmaTile {
  static constexpr auto config = WgmmaSm90Config(
      {block_m, block_n, block_k}, {warp_m, warp_n, block_k}, blocks_per_sm, dst_alignment);
};
template <class TileT, int split>
struct SplitK {
  static constexpr auto config = gemm::WithClusterSplitK(TileT::config, split);
};

template <class TileT>
struct PackedRows {
  static constexpr auto config = WithPackedRows(TileT::config, 2);
};
template <class TileT>
struct PingPong {
  static constexpr auto config = WithPingPong(TileT::config);
};
using PackedRows32 = PackedRows<WgmmaTile<32, 64, 64, 32, 64, 2>>;

template <class Dst, class EpilogueT, class TileT, class PrologueT = prologues::SharedFilter>
struct WgmmaPolicy {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = CxRSKx<32>;
  using DstLayout = Dst;
  using Prologue = PrologueT;
  using Epilogue = EpilogueT;
  static constexpr auto config = TileT::config;
};

template <class Dst, class EpilogueT, class TileT, class PrologueT = prologues::SharedFilter>
struct WgmmaNhwcPolicy : WgmmaPolicy<Dst, EpilogueT, TileT, PrologueT> {
  using SrcLayout = NHWC;
  using FilterLayout = KRSC;
};

// Over NCxHWx<4>; a stage holds all of k, whatever the tile's k.
template <class Dst, class EpilogueT, class TileT, class PrologueT = prologues::SharedFilter>
struct WgmmaFirstPolicy : WgmmaPolicy<Dst, EpilogueT, TileT, PrologueT> {
  using SrcLayout = NCxHWx<4>;
  using FilterLayout = CxRSKx<4>;
  static constexpr auto config = WithSrcAlignment(TileT::config, 4);
};
template <class PrologueT, class Dst, class TileT>
struct WgmmaFirstPrologue : WgmmaFirstPolicy<Dst, epilogues::BiasRelu<>, TileT, PrologueT> {
  static constexpr int kChannelsOfLoad = 4, kChannelsOfStore = TileT::config.alignment.dst;
};

using SmallTile64 = WgmmaTile<64, 64, 64, 64, 64>;

template <class PrologueT, class Dst, class TileT>
struct WgmmaPrologue : WgmmaPolicy<Dst, epilogues::BiasRelu<>, TileT, PrologueT> {
  static constexpr int kChannelsOfLoad = 32, kChannelsOfStore = TileT::config.alignment.dst;
};
template <class PrologueT, class Dst, class TileT>
struct WgmmaNhwcPrologue : WgmmaNhwcPolicy<Dst, epilogues::BiasRelu<>, TileT, PrologueT> {
  static constexpr int kChannelsOfLoad = 16, kChannelsOfStore = TileT::config.alignment.dst;
};

template <class EpilogueT, class Dst = NCxHWx<32>, int dst_alignment = 16>
using WithEpilogue = WgmmaPolicy<Dst, EpilogueT, WgmmaTile<64, 64, 64, 32, 64, 1, dst_alignment>>;

}  // namespace weft::conv
