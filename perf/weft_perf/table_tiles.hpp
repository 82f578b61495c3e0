// What weft_perf measures of the table of tiles (gemm/tile/tiles.def, conv/policy/tiles.def): every
// row of a family.
#pragma once

#include "perf/weft_perf/tiles.hpp"
#include "weft/conv/tile_families.hpp"

namespace weft::perf {

namespace internal {

template <class FamilyTileT>
using OfNc4 = Nc4Tile<typename FamilyTileT::Tile>;
template <class FamilyTileT>
using OfNc4To32 = Nc4To32Tile<typename FamilyTileT::Tile>;
template <class FamilyTileT>
using OfNc4ToNhwc = Nc4ToNhwcTile<typename FamilyTileT::Tile>;
template <class FamilyTileT>
using OfNc32 = Nc32Tile<typename FamilyTileT::Tile>;
template <class FamilyTileT>
using OfNhwc = NhwcTile<typename FamilyTileT::Tile, FamilyTileT::kSrc, FamilyTileT::kDst>;
template <class FamilyTileT>
using OfNc4Depthwise = Nc4DepthwiseTile<typename FamilyTileT::Tile>;
template <class FamilyTileT>
using OfNc32Depthwise = Nc32DepthwiseTile<typename FamilyTileT::Tile>;
template <class FamilyTileT>
using OfNhwcDepthwise = NhwcDepthwiseTile<typename FamilyTileT::Tile>;

template <template <class FamilyTileT> class Of, class Each, class... FamilyTiles>
void ForEachOf(const Each& each, conv::TileList<FamilyTiles...>) {
  (each.template operator()<Of<FamilyTiles>>(), ...);
}

}  // namespace internal

// each.operator()<P>() for the policies that are measured with every epilogue. perf/operators.cmake compiles the same.
template <class Each>
void ForEachTableTile(const Each& each) {
  namespace families = conv::tile_families;
  internal::ForEachOf<internal::OfNc32>(each, conv::TilesOf<families::kNc32>());
  internal::ForEachOf<internal::OfNc32>(each, conv::TilesOf<families::kNc32, true>());
  internal::ForEachOf<internal::OfNhwc>(each, conv::TilesOf<families::kNhwc>());
  internal::ForEachOf<internal::OfNhwc>(each, conv::TilesOf<families::kNhwc, true>());
  internal::ForEachOf<internal::OfNhwc>(each, conv::TilesOf<families::kNhwcOfEight, true>());
  internal::ForEachOf<internal::OfNc4>(each, conv::TilesOf<families::kNc4>());
  internal::ForEachOf<internal::OfNc4To32>(each, conv::TilesOf<families::kFirstLayer, true>());
  internal::ForEachOf<internal::OfNc4ToNhwc>(each, conv::TilesOf<families::kFirstLayer, true>());
}

// And for those that are measured with ReLU alone.
template <class Each>
void ForEachDepthwiseTableTile(const Each& each) {
  namespace families = conv::tile_families;
  internal::ForEachOf<internal::OfNc4Depthwise>(each, conv::TilesOf<families::kDepthwiseNc4>());
  internal::ForEachOf<internal::OfNc32Depthwise>(each, conv::TilesOf<families::kDepthwiseNc32>());
  internal::ForEachOf<internal::OfNhwcDepthwise>(each, conv::TilesOf<families::kDepthwiseNhwc>());
}

}  // namespace weft::perf
