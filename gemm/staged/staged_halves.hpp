// Stores the 16-bit outputs or copies of a wgmma product (staged_store.hpp) in chunks of 8
// channels; the accumulators of a thread are of single channels, which it could only store one by
// one.
//
// Each warp takes 16 channels of up to 32 pixels at a time through shared memory of its own:
// stmatrix makes the channels of a pixel neighbours there, and every lane then stores chunks of 16
// bytes.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/staged/staged_chunk.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Layout and Element are those of the tensor that is written. kRun: channels of one store, at most
// 8. Mma: the WgmmaSm90Mainloop.
template <class Layout, class Element, int kRun, class Mma>
struct StagedHalves {
  static_assert(sizeof(Element) == 2 && 8 % kRun == 0 && Mma::kOrder != ColumnOrder::kPaired);
  using Chunks = StagedChunks<4 * Mma::kBlocks, Mma::kOrder>;
  using Chunk = typename Chunks::Chunk;
  static constexpr int kPixels = 32, kPixelBytes = 32;
  struct Shared {
    alignas(128) std::uint8_t byte[Mma::kGroups][4][kPixels * kPixelBytes];  // [group][warp]
  };
  static_assert(sizeof(Shared) == Mma::kGroups * kStagedHalfBytes);

  // Packs a thread's values of one channel of two pixels into a word of stmatrix.
  WEFT_DEVICE static std::uint32_t Word(Element first, Element second) {
    const Element pair[2] = {first, second};
    std::uint32_t word;
    memcpy(&word, pair, sizeof(word));
    return word;
  }

  // A warp of the warpgroup stores chunk number `chunk` of 8 kMatrices of its rows. Their pixels
  // begin at offsets[0], offsets[1], ... of `tensor`, in elements; words[0] has the chunk's first
  // eight channels and words[1] its last. k: the chunk's first channel. Channels from `end` on are
  // stored as zeros, those from padded_end on not at all.
  template <int kMatrices>
  WEFT_DEVICE static void Write(arch::Thread t, Shared& shared, Element* tensor,
                                const TensorExtents& extents, const std::int64_t* offsets,
                                int chunk, std::int32_t k, std::int32_t end,
                                std::int32_t padded_end,
                                const std::uint32_t (&words)[2][kMatrices]) {
    auto& staged = shared.byte[Mma::Map::Group(t)][t.warp() % 4];
    t.SyncWarp();  // all lanes have read the previous contents
    const int own = t.lane() % (8 * kMatrices);
    WEFT_UNROLL
    for (int half = 0; half < 2; ++half) {
      t.template StMatrixTrans<kMatrices>(t.SharedAddress(staged + Place(own, half)), words[half]);
    }
    t.SyncWarp();
    const int half = t.lane() % 2;
    k += 8 * half;
    const Chunk keep = Chunks::Mask(2 * (end - k));  // bytes
    WEFT_UNROLL
    for (int i = 0; i < 8 * kMatrices; i += 16) {
      const int row = i + t.lane() / 2;
      if (kMatrices == 1 && row >= 8) return;
      Chunk v = t.LoadShared(reinterpret_cast<const Chunk*>(staged + Place(row, half)));
      if constexpr (Chunks::kPermuted) InOrder(t, (2 * chunk + half) % 4, v);
      WEFT_UNROLL
      for (int w = 0; w < 4; ++w) v.word[w] &= keep.word[w];
      const std::int64_t offset = t.LoadShared(&offsets[row]);
      WEFT_UNROLL
      for (int j = 0; j < 8; j += kRun) {
        Vector run;
        memcpy(&run, reinterpret_cast<const std::uint8_t*>(v.word) + 2 * j, sizeof(run));
        if (offset >= 0 && k + j < padded_end) {
          Element* const to = tensor + offset + Layout::ChannelOffset(extents, k + j);
          t.StoreGlobal(reinterpret_cast<Vector*>(to), run);
        }
      }
    }
  }

 private:
  struct alignas(2 * kRun) Vector {
    unsigned char byte[2 * kRun];
  };

  // Where half a row, 8 channels, lies: the halves of 8 rows are in different banks.
  WEFT_DEVICE static int Place(int row, int half) {
    return row * kPixelBytes + (half ^ (row >> 2 & 1)) * 16;
  }
  // Puts 8 channels in order, of which position i holds channel i ^ m.
  WEFT_DEVICE static void InOrder(arch::Thread t, int m, Chunk& v) {
    const std::uint32_t order = (m & 1) != 0 ? 0x1032u : 0x3210u;
    const Chunk from = v;
    WEFT_UNROLL
    for (int w = 0; w < 4; ++w) {
      const std::uint32_t word = (m & 2) != 0 ? from.word[w ^ 1] : from.word[w];
      v.word[w] = t.BytePermute(word, word, order);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
