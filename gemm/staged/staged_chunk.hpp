// A chunk is 16 bytes of a staged tile (staged_store.hpp), 16 channels of one pixel. This file says
// where a chunk lies in shared memory and in which order its bytes are; which pixel it belongs to
// is said by staged_pixels.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/channel_order.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {

// Whether the Copy stage of PolicyT's epilogue is stored through shared memory (staged_halves.hpp):
// 16-bit copies in the output's layout, beside outputs of one byte. With ColumnOrder::kPaired it is
// not: a thread's two channels are neighbours there.
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
// Whether 16-bit outputs may be stored that way; they are not where neighbouring pixels are
// adjacent in memory (kChannelRun == 1, see wgmma_store.hpp).
template <class PolicyT, ColumnOrder kOrder>
inline constexpr bool kStagesHalves =
    sizeof(typename PolicyT::Epilogue::Output) == 2 && kOrder != ColumnOrder::kPaired;
inline constexpr int kStagedHalfBytes = 4 * 1024;  // shared memory per warpgroup, for either

inline namespace WEFT_BACKEND {

// kChunks: the chunks of a warpgroup's row. kOrder: the mainloop's order of columns.
template <int kChunks, ColumnOrder kOrder>
struct StagedChunks {
  static constexpr bool kPermuted = kOrder == ColumnOrder::kPermuted;
  static constexpr bool kInOrder = kOrder == ColumnOrder::kPaired;
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };

  // The number of the 16-byte place of a row's chunk. A swizzle, by the row's bits in reverse, puts
  // the chunks of 8 rows into different banks, and pairs of chunks of 4 rows too.
  WEFT_DEVICE static int Place(int row, int chunk) {
    constexpr bool kWholeLines = kChunks % 8 == 0;  // a row's chunks fill lines of 128 bytes
    const int bits = (row & 2) | (row >> 2 & 1);
    return row * kChunks + (chunk ^ (kWholeLines ? (row & 1) << 2 | bits : bits));
  }

  // BytePermute selectors that put a chunk's channels in order. Byte 2i of a chunk is column i of
  // its first eight columns, byte 2i + 1 that of its last eight; order[0] picks four channels of
  // the former and order[1] of the latter. Not for kInOrder.
  WEFT_DEVICE static void InOrder(int chunk, std::uint32_t (&order)[2]) {
    order[0] = 0x6420, order[1] = 0x7531;
    if constexpr (kPermuted) {  // column i of the e-th eight columns holds channel i ^ e % 4
      order[0] = chunk % 2 == 0 ? 0x6420 : 0x2064;
      order[1] = chunk % 2 == 0 ? 0x5713 : 0x1357;
    }
  }
  // The channel, 0 to 15, that byte b of a chunk holds.
  WEFT_DEVICE static int ChannelOf(int chunk, int b) {
    if constexpr (kInOrder) return b;
    const int eight = b & 1;
    return 8 * eight + ((b >> 1) ^ (kPermuted ? (2 * chunk + eight) % 4 : 0));
  }

  // Rearranges a residual's chunk, whose channels are in order, to the order in which ldmatrix
  // hands them to the accumulators. Not for kInOrder, where the two are the same.
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

  // A mask that keeps the first `count` bytes of a chunk and clears the others.
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
