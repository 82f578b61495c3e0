// Which families have which tiles: the column `families` of the table of tiles
// (gemm/tile/tiles.def, conv/policy/tiles.def) as lists of types. conv/ready_made.hpp makes
// families of policies from them, and weft_perf the list of what it measures.
#pragma once

#include <type_traits>

#include "weft/conv/ready_made_tiles.hpp"
#include "weft/gemm/tile/tile_table.hpp"

namespace weft::conv {

// A tile in a family. kSrc and kDst: bytes of a load and channels of a store over NHWC; 0: as wide
// as the tile allows.
template <class TileT, int kSrcBytes = 0, int kDstChannels = 0>
struct FamilyTile {
  using Tile = TileT;
  static constexpr int kSrc = kSrcBytes, kDst = kDstChannels;
};

template <class TileT>
inline constexpr bool kIsWgmma =
    std::remove_cvref_t<decltype(TileT::config)>::kMainloop == gemm::Mainloop::kWgmmaSm90;

using gemm::TileList;

// The names in the column `families`, which may be joined by |. Each is a bit.
namespace tile_families {

inline constexpr unsigned kNoFamily = 0;
inline constexpr unsigned kNc4 = 1 << 0;  // S8Conv4Family, and families made of it
// The wgmma_sm90 tiles of these families, whose outputs are NCxHWx<32> or NHWC.
inline constexpr unsigned kFirstLayer = 1 << 1;
inline constexpr unsigned kNc32 = 1 << 2;  // S8Conv32Family
inline constexpr unsigned kNhwc = 1 << 3;  // S8ConvNhwcFamily, for C a multiple of 16
// S8ConvNhwcFamily for any C that is a multiple of 4: to NHWC with any K, and to blocked layouts,
// which pad K. The third are wgmma_sm90 tiles to NHWC where C or K is a multiple of 8 and not of
// 16.
inline constexpr unsigned kNhwcAnyK = 1 << 4;
inline constexpr unsigned kNhwcToBlocks = 1 << 5;
inline constexpr unsigned kNhwcOfEight = 1 << 6;
inline constexpr unsigned kDepthwiseNc4 = 1 << 7;  // S8Depthwise4Family, and so on
inline constexpr unsigned kDepthwiseNc32 = 1 << 8;
inline constexpr unsigned kDepthwiseNhwc = 1 << 9;
inline constexpr unsigned kDepthwisePointwise = 1 << 10;  // S8DepthwisePointwise...Family

// Which rows of these families their small ones have (S8Conv4SmallFamily and so on), and a
// wgmma_sm90 tile that S8ConvNhwcSmallFamily has where it has none of kNhwcOfEight.
// perf/small_families.py says what other rows would cost, by measured times.
inline constexpr unsigned kNc4Small = 1 << 11;
inline constexpr unsigned kNc32Small = 1 << 12;
inline constexpr unsigned kNhwcSmall = 1 << 13;
inline constexpr unsigned kNhwcSmallToWide = 1 << 14;
inline constexpr unsigned kAllSmall = kNc4Small | kNc32Small | kNhwcSmall | kNhwcSmallToWide;

inline constexpr unsigned kOnHopper = 1u << 31;  // not a family: a wgmma_sm90 tile
template <class FamilyTileT, unsigned kFamilies>
using Row =
    gemm::internal::TableRow<FamilyTileT,
                             kFamilies | (kIsWgmma<typename FamilyTileT::Tile> ? kOnHopper : 0)>;

using Table = gemm::internal::TileTable<gemm::internal::NoRow
#define WEFT_TILE(type, value, families, when) , Row<FamilyTile<type>, families>
#define WEFT_TILE_AGAIN(type, families, src, dst) , Row<FamilyTile<type, src, dst>, families>
#include "weft/gemm/tile/tiles.def"
#define WEFT_TILE(type, value, families, when) , Row<FamilyTile<type>, families>
#include "weft/conv/policy/tiles.def"
                                        >;

}  // namespace tile_families

// The tiles of a family that any GPU runs, as in TilesOf<tile_families::kNc32>, or its wgmma_sm90
// tiles, as in TilesOf<tile_families::kNc32, true>; of these the ones that are in kSmall too.
template <unsigned kFamily, bool kOnHopper = false, unsigned kSmall = tile_families::kNoFamily>
using TilesOf =
    typename gemm::internal::RowsWith<tile_families::Table, kFamily,
                                      tile_families::kOnHopper | kSmall,
                                      (kOnHopper ? tile_families::kOnHopper : 0) | kSmall>::type;

}  // namespace weft::conv
