// Batches and rows of a convolution's products: which output pixel a row of which batch is.
//
// A prologue's filter depends on some coordinates of the output: those enumerate the batches. The
// rows of a batch's product are the pixels that differ in the other coordinates only
// (prologues/README.md).
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/policy/output_params.hpp"
#include "weft/gemm/tile/fast_divmod.hpp"
#include "weft/gemm/tile/tile_grid.hpp"
#include "weft/gemm/tile/traits.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::conv {

// A phase of a transposed convolution: its pixels are some of the destination's (PhaseRows).
template <class Prologue>
inline constexpr bool kPerPhase = std::is_same_v<Prologue, prologues::PerPhase>;

// The ordinary convolution is one product, and so is a phase. Every other prologue is asked for its
// filter, batch by batch.
template <class Prologue>
inline constexpr bool kBatched =
    !std::is_same_v<Prologue, prologues::SharedFilter> && !kPerPhase<Prologue>;

// An output tile of one batch.
template <class Prologue>
struct BatchTile : gemm::Tile {
  prologues::BatchCoord batch;
  std::int64_t filter = 0;  // the batch's filter, as a number in the bank
};

// The scheduler: blocks enumerate (batch, m, n), n fastest.
template <class Prologue>
struct BatchGrid : gemm::SchedulerTraits {
  using Grid = gemm::BatchedGrid<gemm::TileGrid>;
  // A prologue with members may read the numbers of filters from memory.
  static constexpr bool kReads = !std::is_empty_v<Prologue>;
  struct Params : Grid::Params {
    gemm::FastDivmod batch_g, batch_q, batch_p;  // by G, Q', P' of prologues::BatchExtents
    Prologue prologue;
  };
  static constexpr BatchTile<Prologue> At(const Params& p, int block) {
    BatchTile<Prologue> tile;
    const gemm::BatchedTile at = Grid::At(p, block);
    static_cast<gemm::Tile&>(tile) = at;
    std::int32_t rest = at.product;
    tile.batch.index = rest;
    rest = p.batch_g.Divmod(rest, tile.batch.g);
    rest = p.batch_q.Divmod(rest, tile.batch.q);
    tile.batch.n = p.batch_p.Divmod(rest, tile.batch.p);
    tile.filter = p.prologue.Filter(tile.batch);
    return tile;
  }
};
template <class Prologue>
  requires(!kBatched<Prologue>)
struct BatchGrid<Prologue> : gemm::SchedulerTraits {
  using Grid = gemm::TileGrid;
  using Params = Grid::Params;
  static constexpr BatchTile<Prologue> At(const Params& p, int block) {
    return {Grid::At(p, block), {}, 0};
  }
};

// What the filter of a tile depends on.
template <class Tile>
[[gnu::visibility("hidden")]] inline constexpr prologues::Depends kDependsOf = {};
template <class Prologue>
[[gnu::visibility("hidden")]] inline constexpr prologues::Depends kDependsOf<BatchTile<Prologue>> =
    Prologue::kDepends;

// The output pixel of row m of a batch: image, row and column, and whether there is such a pixel.
struct PixelPlace {
  std::int32_t n = 0, p = 0, q = 0;
  bool inside = false;
};

struct PixelMap : gemm::RowsTraits {
  std::int32_t rows = 0;          // of one batch, with those past the image in blocks at its edge
  gemm::FastDivmod image_pixels;  // by the pixels of one image that belong to a batch
  gemm::FastDivmod row_pixels;    // by those of one row of the image
  std::int32_t p = 0, q = 0;      // output rows and columns; used where the filter depends on both
  std::int32_t group_k = 0;       // output channels of a group; used where it depends on that

  template <class Tile>
  constexpr PixelPlace Place(const Tile& tile, std::int32_t m) const {
    constexpr prologues::Depends kDepends = kDependsOf<Tile>;
    PixelPlace at;
    std::int32_t pq = 0;
    at.n = image_pixels.Divmod(m, pq);
    at.p = row_pixels.Divmod(pq, at.q);
    at.inside = m < rows;
    if (kDepends.image) at.n += tile.batch.n;
    if (kDepends.OnPixel()) {
      at.p += tile.batch.p * kDepends.block_h;
      at.q += tile.batch.q * kDepends.block_w;
      at.inside = at.inside && at.p < p && at.q < q;
    }
    return at;
  }

  // The output pixel of row m, as coordinates; not inside where the row has none.
  template <class Tile>
  constexpr PixelPlace OutputPlace(const Tile& tile, std::int32_t m) const {
    return Place(tile, m);
  }

  constexpr gemm::OutputPixel PixelAt(const PixelPlace& at) const {
    return {at.n, at.p * q + at.q, at.inside};
  }
  // The same as the epilogue wants it (gemm/policy/output_params.hpp).
  template <class Tile>
  constexpr gemm::OutputPixel Pixel(const Tile& tile, std::int32_t m) const {
    if (kDependsOf<Tile>.OnPixel()) {
      return PixelAt(Place(tile, m));
    }
    gemm::OutputPixel pixel;
    pixel.n = image_pixels.Divmod(m, pixel.pq);
    pixel.inside = m < rows;
    if (kDependsOf<Tile>.image) pixel.n += tile.batch.n;
    return pixel;
  }
  // Splits pixel pq of an image into its row, which is returned, and its column.
  template <class Tile>
  constexpr std::int32_t Row(const Tile&, std::int32_t pq, std::int32_t& column) const {
    if (!kDependsOf<Tile>.OnPixel()) return row_pixels.Divmod(pq, column);
    column = pq % q;
    return pq / q;
  }
  // Whether a tile's first channel may begin within a run of adjacent channels.
  template <class Tile>
  static constexpr bool kUnaligned = kDependsOf<Tile>.group;
  // The tile's product has output channels [FirstChannel, EndChannel), of the `k` of all groups.
  template <class Tile>
  constexpr std::int32_t FirstChannel(const Tile& tile) const {
    return kDependsOf<Tile>.group ? tile.batch.g * group_k : 0;
  }
  template <class Tile>
  constexpr std::int32_t EndChannel(const Tile& tile, std::int32_t k) const {
    return kDependsOf<Tile>.group ? (tile.batch.g + 1) * group_k : k;
  }
};

// The rows of a phase of a transposed convolution: their pixels are every stride-th of the
// destination, from the phase's first on.
template <class Rows>
struct PhaseRows : Rows {
  prologues::PerPhase phase;

  template <class Tile>
  constexpr gemm::OutputPixel Pixel(const Tile& tile, std::int32_t m) const {
    const PixelPlace at = Rows::OutputPlace(tile, m);
    const std::int32_t row = at.p * phase.stride_h + phase.first_h;
    const std::int32_t column = at.q * phase.stride_w + phase.first_w;
    const bool inside =
        at.inside && row >= 0 && row < phase.rows && column >= 0 && column < phase.columns;
    return {at.n, inside ? row * phase.columns + column : 0, inside};
  }
  template <class Tile>
  constexpr std::int32_t Row(const Tile&, std::int32_t pq, std::int32_t& column) const {
    column = pq % phase.columns;
    return pq / phase.columns;
  }
};

// What the epilogue of an operator with this prologue takes as rows: phases place their pixels.
template <class Prologue, class Rows>
using RowsFor = std::conditional_t<kPerPhase<Prologue>, PhaseRows<Rows>, Rows>;

}  // namespace weft::conv
