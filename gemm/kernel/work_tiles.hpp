// The work tiles of a block of a persistent grid.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/fast_divmod.hpp"
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

// The same where a tile's epilogue goes on where the one above it ended (EpilogueTraits::kCarries): a
// block takes all tiles of a strip, one below the other, then those of the G-th strip behind it. i
// counts the block's tiles. Strips side by side in n come first, so that a block whose G is a
// multiple of their number stays in the same columns.
template <class Scheduler>
struct PersistentStrips {
  int first = 0, step = 1, end;
  int block, blocks;

  template <class Params>
  WEFT_DEVICE PersistentStrips(arch::Thread t, const Params& p)
      : block(t.block_x()), blocks(t.grid_x()) {
    const FastDivmod& tiles = p.output.rows.StripTiles();
    const int strips = tiles.Divide(p.tiles);
    end = block < strips ? ((strips - 1 - block) / blocks + 1) * tiles.divisor() : 0;
  }

  template <class Params>
  WEFT_DEVICE auto At(const Params& p, int i) const {
    const FastDivmod& tiles = p.output.rows.StripTiles();
    std::int32_t row = 0, n = 0;
    const std::int32_t strip = block + tiles.Divmod(i, row) * blocks;
    const std::int32_t m = p.schedule.tiles_n.Divmod(strip, n) * tiles.divisor() + row;
    const auto tile = Scheduler::At(p.schedule, m * p.schedule.tiles_n.divisor() + n);
    const auto& product = tile.ProductOf(p);
    return WorkTile<std::remove_cvref_t<decltype(tile)>, std::remove_cvref_t<decltype(product)>>{
        tile, product, {0, product.k_tiles, product.k_tiles}};
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
