// The policies that weft_perf measures, of the table of tiles and behind the lines of perf/tiles.def: int8 convolution, scale per channel, float bias,
// int8, with the epilogues that weft_perf knows. The one place of perf/ that knows how tiles are
// configured; everything else uses their names.
#pragma once

#include "perf/bench/tiles.hpp"
#include "weft/conv/tile_families.hpp"

namespace weft::perf {

namespace internal {

template <class Src, class Filter, class Dst>
struct TileOf {
  using Element = std::int8_t;
  using SrcLayout = Src;
  using FilterLayout = Filter;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = epilogues::BiasRelu<>;
};

}  // namespace internal

// Tiles of the table of tiles: TileT is a type of conv/ready_made_tiles.hpp.
template <class Src, class Filter, class Dst, class TileT>
struct TableTile : internal::TileOf<Src, Filter, Dst> {
  static constexpr auto config = TileT::config;
};
template <class TileT>
using Nc4Tile = TableTile<NCxHWx<4>, CxRSKx<4>, NCxHWx<4>, TileT>;
template <class TileT>
using Nc4To32Tile = TableTile<NCxHWx<4>, CxRSKx<4>, NCxHWx<32>, TileT>;
template <class TileT>
using Nc32Tile = TableTile<NCxHWx<32>, CxRSKx<32>, NCxHWx<32>, TileT>;
// C is a multiple of kSrcBytes, K of kDstChannels; 0: the config's own.
template <class TileT, int kSrcBytes = 0, int kDstChannels = 0>
struct NhwcTile : internal::TileOf<NHWC, KRSC, NHWC> {
  static constexpr auto config = conv::WithSrcAlignment(
      conv::WithDstAlignment(TileT::config,
                             kDstChannels == 0 ? TileT::config.alignment.dst : kDstChannels),
      kSrcBytes == 0 ? TileT::config.alignment.src : kSrcBytes);
};
template <class Layout, class TileT>
struct DepthwiseTableTile : TableTile<Layout, KRSx4x4, Layout, TileT> {
  using Prologue = prologues::Depthwise;
};

// Those that no family has, by their numbers. Tiles in elements: threadblock (m, n, k), warp (m, n), and the stages of the ring.
template <int kM, int kN, int kK, int kWarpM, int kWarpN, int kStages>
struct Nc32 : internal::TileOf<NCxHWx<32>, CxRSKx<32>, NCxHWx<32>> {
  static constexpr auto config = conv::MmaSm80Config({kM, kN, kK}, {kWarpM, kWarpN, kK}, kStages);
};

// The same through wgmma_sm90: threadblock (m, n, k), a warpgroup's share (m, n), blocks of a
// multiprocessor, blocks of a cluster that share a tile's k tiles, and sets of ping-pong warpgroups.
template <int kM, int kN, int kK, int kWarpM, int kWarpN, int kBlocks, int kClusterSplit = 1,
          int kConsumerGroups = 1>
struct Nc32Wgmma : internal::TileOf<NCxHWx<32>, CxRSKx<32>, NCxHWx<32>> {
  static constexpr auto config = [] {
    conv::WgmmaSm90Config c({kM, kN, kK}, {kWarpM, kWarpN, kK}, kBlocks);
    c.cluster_split_k = kClusterSplit, c.ping_pong = kConsumerGroups > 1;
    return c;
  }();
};
template <int kM, int kN, int kK, int kWarpM, int kWarpN, int kBlocks, int kClusterSplit = 1,
          int kConsumerGroups = 1>
struct NhwcWgmma : internal::TileOf<NHWC, KRSC, NHWC> {
  static constexpr auto config =
      Nc32Wgmma<kM, kN, kK, kWarpM, kWarpN, kBlocks, kClusterSplit, kConsumerGroups>::config;
};

// By mma_sm80 over NHWC, with loads of kSrcBytes: C is a multiple of it.
template <int kSrcBytes, int kM, int kN, int kK, int kWarpM, int kWarpN, int kStages>
struct Nhwc : internal::TileOf<NHWC, KRSC, NHWC> {
  static constexpr auto config = conv::WithSrcAlignment(
      conv::MmaSm80Config({kM, kN, kK}, {kWarpM, kWarpN, kK}, kStages), kSrcBytes);
};

// Source and destination in NCxHWx<4>, through dp4a: threadblock (m, n, k), warp (m, n, k), thread
// (m, n).
template <int kM, int kN, int kK, int kWarpM, int kWarpN, int kWarpK, int kThreadM, int kThreadN>
struct Nc4 : internal::TileOf<NCxHWx<4>, CxRSKx<4>, NCxHWx<4>> {
  static constexpr auto config =
      conv::SimtConfig({kM, kN, kK}, {kWarpM, kWarpN, kWarpK}, {kThreadM, kThreadN, 4});
};

// Depthwise: output rows of a thread, threads side by side along the channels, threads of a block.
template <int kRows, int kLanes, int kThreads>
struct Nc32Depthwise : internal::TileOf<NCxHWx<32>, KRSx4x4, NCxHWx<32>> {
  using Prologue = prologues::Depthwise;
  static constexpr auto config = conv::DepthwiseConfig(kRows, kLanes, kThreads);
};

// Every row of a family in the table of tiles, and the lines of perf/tiles.def: those that an ordinary build has, those that
// are measured with every epilogue, and those with ReLU alone.
namespace internal {
namespace families = conv::tile_families;

// The tile of a row.
template <template <class TileT> class Of>
struct Rows {
  template <class RowT>
  using Tile = Of<typename RowT::Tile>;
};
template <class RowT>
using NhwcRow = NhwcTile<typename RowT::Tile, RowT::kSrc, RowT::kDst>;
template <class Layout>
struct DepthwiseRows {
  template <class RowT>
  using Tile = DepthwiseTableTile<Layout, typename RowT::Tile>;
};

}  // namespace internal

#define BASIC(Name, ...) , gemm::Family<Name<__VA_ARGS__>>
#define NETWORK(Name, ...)
#define TILE(Name, ...)
using BasicTiles = gemm::JoinFamilies<gemm::Family<>
#include "perf/tiles.def"
                                      >;
#undef BASIC
#undef NETWORK
#define BASIC(Name, ...)
#define NETWORK(Name, ...) , gemm::Family<Name<__VA_ARGS__>>
using NetworkTiles = gemm::JoinFamilies<
    PoliciesOf<internal::Rows<Nc32Tile>::Tile, conv::TilesOf<internal::families::kNc32>>,
    PoliciesOf<internal::Rows<Nc32Tile>::Tile, conv::TilesOf<internal::families::kNc32, true>>,
    PoliciesOf<internal::NhwcRow, conv::TilesOf<internal::families::kNhwc>>,
    PoliciesOf<internal::NhwcRow, conv::TilesOf<internal::families::kNhwc, true>>,
    PoliciesOf<internal::NhwcRow, conv::TilesOf<internal::families::kNhwcOfEight, true>>,
    PoliciesOf<internal::Rows<Nc4Tile>::Tile, conv::TilesOf<internal::families::kNc4>>,
    PoliciesOf<internal::Rows<Nc4To32Tile>::Tile,
               conv::TilesOf<internal::families::kFirstLayer, true>>
#include "perf/tiles.def"
    >;
#undef NETWORK
#undef TILE
#define NETWORK(Name, ...)
#define TILE(Name, ...) , gemm::Family<Name<__VA_ARGS__>>
using ReluTiles = gemm::JoinFamilies<PoliciesOf<internal::DepthwiseRows<NCxHWx<4>>::Tile,
                                                conv::TilesOf<internal::families::kDepthwiseNc4>>,
                                     PoliciesOf<internal::DepthwiseRows<NCxHWx<32>>::Tile,
                                                conv::TilesOf<internal::families::kDepthwiseNc32>>,
                                     PoliciesOf<internal::DepthwiseRows<NHWC>::Tile,
                                                conv::TilesOf<internal::families::kDepthwiseNhwc>>
#include "perf/tiles.def"
                                     >;
#undef BASIC
#undef NETWORK
#undef TILE

// A tile's operator with another epilogue.
template <class Tile>
using WithRelu = Tile;
template <class Tile>
struct WithResidual : Tile {
  using Epilogue = epilogues::ResidualBiasRelu<>;
};
template <class Tile>
struct WithNothing : Tile {
  using Epilogue = epilogues::BiasIdentity<>;
};
template <class Tile>
struct WithHSwish : Tile {
  using Epilogue = epilogues::BiasHSwish<>;
};

// What this program compiles and measures.
template <class IfAll>
using WithAllTiles = std::conditional_t<kAllTiles, IfAll, gemm::Family<>>;
using MeasuredTiles = gemm::JoinFamilies<BasicTiles, WithAllTiles<NetworkTiles>>;
using MeasuredReluTiles = WithAllTiles<ReluTiles>;

namespace internal {

template <class FamilyT>
struct WithEveryEpilogue;
template <class... Tiles>
struct WithEveryEpilogue<gemm::Family<Tiles...>> {
  using type = gemm::JoinFamilies<
      gemm::Family<WithRelu<Tiles>, WithNothing<Tiles>, WithResidual<Tiles>, WithHSwish<Tiles>>...>;
};

}  // namespace internal

using MeasuredPolicies =
    gemm::JoinFamilies<typename internal::WithEveryEpilogue<MeasuredTiles>::type,
                       MeasuredReluTiles>;

// Threads with 128 sums have no registers left for a residual before Hopper, nor over NHWC. What has no GPU code is
// passed over when tiles are measured.
template <class P>
constexpr bool HasRegisters(bool on_hopper) {
  constexpr auto c = P::config;
  if constexpr (P::Epilogue::kHasResidual && decltype(c)::kMainloop == gemm::Mainloop::kMmaSm80) {
    constexpr bool kNhwc = std::is_same_v<typename P::SrcLayout, NHWC>;
    return c.warp.m != 64 || c.warp.n != 64 || (on_hopper && !kNhwc);
  }
  return true;
}

}  // namespace weft::perf
