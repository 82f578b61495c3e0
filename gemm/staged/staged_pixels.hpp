// Which pixels the rows of a staged tile (staged_store.hpp) are.
#pragma once

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The pixels of a warpgroup's rows: one to a row, or with config.packed_rows two, whose channels
// are the first and the second half of the row's columns. Shared memory has the first pixels of all
// rows, then the second ones. Mma: a WgmmaSm90Mainloop.
template <class Mma>
struct StagedPixels {
  using Map = typename Mma::Map;
  static constexpr int kPackedRows = Mma::kPackedRows, kRows = Mma::kOwnN,
                       kCount = kPackedRows * kRows;
  static constexpr int kChunks = 4 * Mma::kBlocks / kPackedRows;  // chunks of a pixel

  // The first channel of a row's chunk, and the pixel of row 0 that this chunk belongs to.
  WEFT_DEVICE static int ChannelOf(int chunk) {
    if constexpr (kPackedRows > 1) chunk %= kChunks;
    return 16 * chunk;
  }
  WEFT_DEVICE static int FirstOf(int chunk) {
    if constexpr (kPackedRows == 1) {
      return 0;
    } else {
      return chunk / kChunks * kRows;
    }
  }
  // The number that Mma::Map gives a pixel of the tile: there the two pixels of a row are
  // neighbours.
  WEFT_DEVICE static int NumberOf(arch::Thread t, int pixel) {
    if constexpr (kPackedRows == 1) {
      return Map::FirstPixel(t) + pixel;
    } else {
      return Map::FirstPixel(t) + pixel % kRows * kPackedRows + pixel / kRows;
    }
  }
  // The pixel of the i-th row of a thread's accumulators.
  WEFT_DEVICE static int PixelOf(arch::Thread t, int i) {
    return Map::PackedRow(t) * kRows + Map::Row(t, i);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
