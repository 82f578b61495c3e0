// A chunk of 16 channels of one pixel in a staged tile (staged_store.hpp): whose it is, where it lies,
// and in which order it has its channels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/channel_order.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {

// Whether the copies of PolicyT's epilogue go through shared memory (staged_halves.hpp): those of 16 bits beside
// bytes, which lie as the output does, unless the columns are such that a thread's two channels are neighbours.
template <class PolicyT, ColumnOrder kOrder>
inline constexpr bool kStagesCopy = [] {
  using Epilogue = typename PolicyT::Epilogue;
  if constexpr (Epilogue::kHasCopy && sizeof(typename Epilogue::Output) == 1) {
    using Dst = typename PolicyT::DstLayout;
    return sizeof(typename Epilogue::CopyStage::Element) == 2 && Dst::kChannelRun != 1 &&
           kOrder != ColumnOrder::kPaired && !Epilogue::kNeedsCoordinate &&
           std::is_same_v<typename Epilogue::template CopyLayout<Dst>, Dst>;
  } else {
    return false;
  }
}();
// Whether outputs go that way. Where it is true but pixels lie side by side in memory, they do not.
template <class PolicyT, ColumnOrder kOrder>
inline constexpr bool kStagesHalves =
    sizeof(typename PolicyT::Epilogue::Output) == 2 && kOrder != ColumnOrder::kPaired;
inline constexpr int kStagedHalfBytes = 4 * 1024;  // for either, of a warpgroup

inline namespace WEFT_BACKEND {

// The pixels that a warpgroup's rows hold: one each, or with config.packed_rows two, whose channels
// are the first and the second half of a row's columns. In shared memory all rows' first pixels come
// first.
// Mma: a WgmmaSm90Mainloop.
template <class Mma>
struct StagedPixels {
  using Map = typename Mma::Map;
  static constexpr int kPackedRows = Mma::kPackedRows, kRows = Mma::kOwnN,
                       kCount = kPackedRows * kRows;
  static constexpr int kChunks = 4 * Mma::kBlocks / kPackedRows;  // of a pixel

  // A row's chunk: its first channel, and the pixel that has it of row 0.
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
  // A pixel's number in the tile, where a row's two are neighbours, as Mma::Map counts.
  WEFT_DEVICE static int NumberOf(arch::Thread t, int pixel) {
    if constexpr (kPackedRows == 1) {
      return Map::FirstPixel(t) + pixel;
    } else {
      return Map::FirstPixel(t) + pixel % kRows * kPackedRows + pixel / kRows;
    }
  }
  // The i-th of a thread's sums.
  WEFT_DEVICE static int PixelOf(arch::Thread t, int i) {
    return Map::PackedRow(t) * kRows + Map::Row(t, i);
  }
};

// kChunks: of a row, of a warpgroup. kOrder: the mainloop's.
template <int kChunks, ColumnOrder kOrder>
struct StagedChunks {
  static constexpr bool kPermuted = kOrder == ColumnOrder::kPermuted;
  static constexpr bool kInOrder = kOrder == ColumnOrder::kPaired;
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };

  // Chunks change places so that those of 8 rows lie in different banks, and pairs of 4 rows too: by
  // the row's bits in reverse.
  WEFT_DEVICE static int Place(int row, int chunk) {
    constexpr bool kWholeLines = kChunks % 8 == 0;  // a row's chunks fill lines of 128 bytes
    const int bits = (row & 2) | (row >> 2 & 1);
    return row * kChunks + (chunk ^ (kWholeLines ? (row & 1) << 2 | bits : bits));
  }

  // Selectors of BytePermute. Bytes 2i of a chunk are column i of its first eight, 2i + 1 of its last
  // eight; order[0] picks four channels of the former, order[1] of the latter.
  // Not called where chunks are in order.
  WEFT_DEVICE static void InOrder(int chunk, std::uint32_t (&order)[2]) {
    order[0] = 0x6420, order[1] = 0x7531;
    if constexpr (kPermuted) {  // column i of eights number e holds channel i ^ e % 4
      order[0] = chunk % 2 == 0 ? 0x6420 : 0x2064;
      order[1] = chunk % 2 == 0 ? 0x5713 : 0x1357;
    }
  }
  // Of byte b of a chunk, as InOrder reads them.
  WEFT_DEVICE static int ChannelOf(int chunk, int b) {
    if constexpr (kInOrder) return b;
    const int eight = b & 1;
    return 8 * eight + ((b >> 1) ^ (kPermuted ? (2 * chunk + eight) % 4 : 0));
  }

  // A chunk of a residual as fragments want it. Where chunks are in order it is that already.
  WEFT_DEVICE static void ToFragments(arch::Thread t, int chunk, Chunk& c) {
    std::uint32_t first = 0x5140, second = 0x7362;
    if constexpr (kPermuted) {
      first = chunk % 2 == 0 ? 0x4150 : 0x6372;
      second = chunk % 2 == 0 ? 0x6372 : 0x4150;
    }
    const Chunk from = c;
    c.word[0] = t.BytePermute(from.word[0], from.word[2], first);
    c.word[1] = t.BytePermute(from.word[0], from.word[2], second);
    c.word[2] = t.BytePermute(from.word[1], from.word[3], first);
    c.word[3] = t.BytePermute(from.word[1], from.word[3], second);
  }

  // Of the first `count` bytes of a chunk; those after it are zeros.
  WEFT_DEVICE static Chunk Mask(std::int32_t count) {
    Chunk mask;
    WEFT_UNROLL
    for (int w = 0; w < 4; ++w) {
      mask.word[w] = FirstBytes(count - 4 * w);
    }
    return mask;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
