// Schedulers: which tile of which product a block works on. The answer depends on the block's
// number alone, so that producers and consumers of a block each compute it for themselves.
#pragma once

#include <cstdint>

#include "weft/gemm/tile/fast_divmod.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// The tile of the output that a block works on: tile m along the rows, n along the columns.
struct Tile {
  // Whether the tile's product is some rows of matrices that all products of a group share
  // (GroupTile).
  static constexpr bool kGrouped = false;
  // Whether the block has a tile at all; only a GroupTile may not exist.
  static constexpr bool exists = true;
  int m = 0, n = 0;

  // What the kernel is given of the tile's product: its operands, output and number of k tiles.
  // These are the kernel's parameters, the same for all products, except in a list (ListTile).
  template <class Params>
  constexpr const Params& ProductOf(const Params& p) const {
    return p;
  }
  // The type by which a thread refers to a part of that.
  template <class Type>
  using Part = const Type&;
};

// A tile of one product of a batch.
struct BatchedTile : Tile {
  std::int32_t product = 0;
};

// A tile of one product of a group, whose rows are `rows` rows from first_row on of matrices that
// all products share.
struct GroupTile : BatchedTile {
  static constexpr bool kGrouped = true;
  std::int32_t first_row = 0, rows = 0;
  bool exists = false;  // some blocks have no tile
};

// A tile of one product of a list; own: what the kernel is given for that product alone.
template <class Product>
struct ListTile : BatchedTile {
  const Product* own = nullptr;

  template <class Params>
  constexpr const Product& ProductOf(const Params&) const {
    return *own;
  }
  // A copy in registers: through a reference, loops would load it from memory again and again.
  template <class Type>
  using Part = const Type;
};

// The tiles of one product, one to a block. Blocks enumerate (m, n), n fastest.
struct TileGrid : SchedulerTraits {
  struct Params {
    FastDivmod tiles_n;
  };
  static constexpr Params Make(std::int32_t /*tiles_m*/, std::int32_t tiles_n, std::int32_t = 1) {
    return {FastDivmod(tiles_n)};
  }
  static constexpr Tile At(const Params& p, int block) {
    Tile tile;
    tile.m = p.tiles_n.Divmod(block, tile.n);
    return tile;
  }
};

// The tiles of one product, in bands of rows of tiles with m fastest within a band: blocks that run
// at the same time then share rows of both operands.
struct BandedTileGrid : SchedulerTraits {
  struct Params {
    FastDivmod band_tiles;       // tiles_n times the rows of a band
    FastDivmod rows, last_rows;  // of a band, of the last one
    std::int32_t last_band = 0;
  };
  // band: how many rows of tiles a band has. All arguments are at least 1; tiles_n times the rows
  // of a band, and the number of tiles, fit 32 bits.
  static constexpr Params Make(std::int32_t tiles_m, std::int32_t tiles_n, std::int32_t band) {
    const std::int32_t rows = band < tiles_m ? band : tiles_m;
    Params p;
    p.last_band = (tiles_m - 1) / rows;
    p.band_tiles = FastDivmod(tiles_n * rows);
    p.rows = FastDivmod(rows);
    p.last_rows = FastDivmod(tiles_m - p.last_band * rows);
    return p;
  }
  static constexpr Tile At(const Params& p, int block) {
    std::int32_t rest = 0, row = 0;
    const std::int32_t band = p.band_tiles.Divmod(block, rest);
    Tile tile;
    tile.n = (band < p.last_band ? p.rows : p.last_rows).Divmod(rest, row);
    tile.m = band * p.rows.divisor() + row;
    return tile;
  }
};

// The tiles of a batch of equal products, one product after the other, each in the order of Grid.
template <class Grid>
struct BatchedGrid : SchedulerTraits {
  struct Params {
    typename Grid::Params grid;
    FastDivmod tiles;  // of a product
  };
  static constexpr Params Make(std::int32_t tiles_m, std::int32_t tiles_n, std::int32_t band = 1) {
    return {Grid::Make(tiles_m, tiles_n, band), FastDivmod(tiles_m * tiles_n)};
  }
  static constexpr BatchedTile At(const Params& p, int block) {
    BatchedTile tile;
    std::int32_t rest = 0;
    tile.product = p.tiles.Divmod(block, rest);
    static_cast<Tile&>(tile) = Grid::At(p.grid, rest);
    return tile;
  }
};

// The same for TileGrid: blocks enumerate (product, m, n), n fastest, by other divisions. ptxas
// makes shorter epilogues of these than of a division by the tiles of a product.
template <>
struct BatchedGrid<TileGrid> : SchedulerTraits {
  struct Params {
    FastDivmod tiles_n, tiles_m;
  };
  static constexpr Params Make(std::int32_t tiles_m, std::int32_t tiles_n, std::int32_t = 1) {
    return {FastDivmod(tiles_n), FastDivmod(tiles_m)};
  }
  static constexpr BatchedTile At(const Params& p, int block) {
    BatchedTile tile;
    const std::int32_t row = p.tiles_n.Divmod(block, tile.n);
    tile.product = p.tiles_m.Divmod(row, tile.m);
    return tile;
  }
};

// The tiles of a group of products whose rows follow one another in one matrix. Where each product
// ends only the device knows (group_offsets). Product g has the rows of tiles from number First(g)
// on:
//
//     First(g) = first row / block_m + g
//
// That leaves each product as many rows of tiles as it can need, since ceil(rows / block_m) is at
// most end / block_m - first / block_m + 1, and together they are Rows(m, products, block_m),
// whatever the offsets are. A block finds its product in log2(products) steps, without a table; at
// most one row of tiles of each product stays empty.
template <class Grid>
struct GroupGrid : SchedulerTraits {
  static constexpr bool kReads = true;   // `group_offsets`
  static constexpr bool kSparse = true;  // the last rows of tiles of each product
  struct Params {
    typename Grid::Params grid;
    FastDivmod block_m;                           // rows of a tile
    const std::int32_t* group_offsets = nullptr;  // where each product's rows end
    std::int32_t products = 0;
    std::int32_t m = 0;  // rows of the matrix; offsets are clamped to 0 .. m
  };
  // Rows of tiles of all products together.
  static constexpr std::int64_t Rows(std::int64_t m, std::int64_t products, int block_m) {
    return m / block_m + products;
  }
  static constexpr GroupTile At(const Params& p, int block) {
    GroupTile tile;
    static_cast<Tile&>(tile) = Grid::At(p.grid, block);
    std::int32_t low = 0, first = 0;  // of a product that begins no later than the tile
    for (std::int32_t high = p.products; high - low > 1;) {
      const std::int32_t middle = low + (high - low) / 2;
      const std::int32_t begin = End(p, middle - 1);
      if (p.block_m.Divide(begin) + middle <= tile.m) {
        low = middle;
        first = begin;
      } else {
        high = middle;
      }
    }
    tile.m -= p.block_m.Divide(first) + low;
    tile.product = low;
    tile.first_row = first;
    tile.rows = End(p, low) - first;
    tile.exists = tile.m * p.block_m.divisor() < tile.rows;
    return tile;
  }

 private:
  // Where product `product` ends. Whatever group_offsets holds, the result is a row that exists, or
  // m.
  static constexpr std::int32_t End(const Params& p, std::int32_t product) {
    const std::int32_t end = p.group_offsets[product];
    return end < 0 ? 0 : end > p.m ? p.m : end;
  }
};

// The tiles of a list of products that have nothing in common, one product after the other. Each
// product says which of the list's tiles is its first and how its tiles lie. A block finds its
// product in log2(count) steps, and never finds one that has no tiles.
//
//     struct Product {
//       Grid::Params grid;
//       std::int32_t first_tile;  // ascending, from 0 on
//     };
template <class Grid, class Product>
struct ListGrid : SchedulerTraits {
  static constexpr bool kReads = true;  // `products`
  static constexpr bool kListed = true;
  struct Params {
    const Product* products = nullptr;
    std::int32_t count = 0;
  };
  static constexpr ListTile<Product> At(const Params& p, int block) {
    ListTile<Product> tile;
    std::int32_t low = 0;
    for (std::int32_t high = p.count; high - low > 1;) {
      const std::int32_t middle = low + (high - low) / 2;
      (p.products[middle].first_tile <= block ? low : high) = middle;
    }
    tile.product = low;
    tile.own = p.products + low;
    static_cast<Tile&>(tile) = Grid::At(tile.own->grid, block - tile.own->first_tile);
    return tile;
  }
};

}  // namespace weft::gemm
