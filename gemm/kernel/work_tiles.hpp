// The work tiles of a block of a persistent grid.
#pragma once

#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// What a block works on at a time: a tile, what the kernel is given of the tile's product
// (operands, output), and which of the tile's k tiles are the block's.
template <class Tile, class Product>
struct WorkTile {
  Tile tile;
  const Product& product;
  KTileRange k_tiles;
};

// The work tiles of a block of a persistent grid of G blocks: every G-th tile, with all its k
// tiles.
//
//     for (int i = tiles.first; i < tiles.end; i += tiles.step) {
//       const auto work = tiles.At(p, i);
template <class Scheduler>
struct PersistentTiles {
  int first, step, end;

  template <class Params>
  WEFT_DEVICE PersistentTiles(arch::Thread t, const Params& p)
      : first(t.block_x()), step(t.grid_x()), end(p.tiles) {}

  template <class Params>
  WEFT_DEVICE auto At(const Params& p, int i) const {
    const auto tile = Scheduler::At(p.schedule, i);
    const auto& product = tile.ProductOf(p);
    return WorkTile<std::remove_cvref_t<decltype(tile)>, std::remove_cvref_t<decltype(product)>>{
        tile, product, {0, product.k_tiles, product.k_tiles}};
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
