// Outputs of one byte in a staged store (staged_store.hpp): a whole tile of them is staged in shared
// memory and then stored to global memory, so that neighbouring threads write neighbouring bytes of
// the destination. Sums of images are added up from the staged bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/image_sums.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// TileT: a StagedTile with outputs of one byte.
template <class TileT>
struct StagedBytes {
  using Output = typename TileT::Output;
  using Element = typename TileT::Element;
  using Map = typename TileT::Map;
  using Pixels = typename TileT::Pixels;
  using Chunks = typename TileT::Chunks;
  using Chunk = typename TileT::Chunk;
  using ChannelSpan = typename TileT::ChannelSpan;
  static constexpr int kRun = TileT::kRun;

  // The shared address of a row's chunk.
  template <class Shared>
  WEFT_DEVICE static std::uint32_t Place(arch::Thread t, const Shared& shared, int row, int chunk) {
    return t.SharedAddress(shared.chunk[Map::Group(t)][Chunks::Place(row, chunk)]);
  }
  // Stages outputs of 8 kMatrices rows; lane l has the place of row l.
  template <int kMatrices>
  WEFT_DEVICE static void Stage(arch::Thread t, std::uint32_t place,
                                const std::uint32_t (&words)[kMatrices]) {
    t.template StMatrixTrans<kMatrices>(place, words);
  }

  // Stores the tile. All threads of a warpgroup call it; a barrier waits until all of them have
  // staged their outputs.
  template <class Shared>
  WEFT_DEVICE static void Run(arch::Thread t, const Shared& shared, const Output& p,
                              const ChannelSpan& span) {
    TileT::Sync(t);
    if constexpr (TileT::Epilogue::kHasSums) {
      AddUp(t, shared, p, span);
      // Without this barrier ptxas takes the warps for divergent, and serializes the next tile's
      // wgmma.
      TileT::Sync(t);
    }
    if constexpr (!TileT::Epilogue::kWritesOutput) {
      // The image sums were all that the staged bytes are for.
    } else if (span.end - span.first >= 16 * Pixels::kChunks) {
      Write<false>(t, shared, p, span);
    } else {
      Write<true>(t, shared, p, span);
    }
  }

 private:
  // Stores the warpgroup's chunks. kMasked: some of their channels may be past the last.
  template <bool kMasked, class Shared>
  WEFT_DEVICE static void Write(arch::Thread t, const Shared& shared, const Output& p,
                                const ChannelSpan& span) {
    using Dst = typename TileT::Dst;
    const auto& staged = shared.chunk[Map::Group(t)];
    const auto mine = TileT::MineOf(t);
    const std::int64_t* const offsets = shared.offset[Map::Group(t)] + Pixels::FirstOf(mine.chunk);
    const std::int32_t k = span.first + Pixels::ChannelOf(mine.chunk);
    if (kMasked && k >= span.padded_end) return;
    const Chunk keep = Chunks::Mask(span.end - k);
    [[maybe_unused]] std::uint32_t order[2];
    if constexpr (!Chunks::kInOrder) Chunks::InOrder(mine.chunk, order);
    Element* to[16 / kRun];  // where each run of the chunk would go for a pixel at offset 0
    WEFT_UNROLL
    for (int j = 0; j < 16; j += kRun) to[j / kRun] = p.dst + Dst::ChannelOffset(p.extents, k + j);
    TileT::ForEachRow(mine, [&](int row) {
      const std::int64_t offset = t.LoadShared(&offsets[row]);
      Chunk words =
          t.LoadShared(reinterpret_cast<const Chunk*>(staged[Chunks::Place(row, mine.chunk)]));
      if constexpr (!Chunks::kInOrder) {
        const Chunk from = words;
        WEFT_UNROLL
        for (int w = 0; w < 4; ++w) {
          const int half = w % 2 * 2;  // the two words with 4 channels of each eight
          words.word[w] = t.BytePermute(from.word[half], from.word[half + 1], order[w / 2]);
        }
      }
      if constexpr (kMasked) {
        WEFT_UNROLL
        for (int w = 0; w < 4; ++w) words.word[w] &= keep.word[w];
      }
      t.KeepInPlace(words.word);  // keeps the compiler from moving this behind the next branch
      if (offset < 0) return;
      WEFT_UNROLL
      for (int j = 0; j < 16; j += kRun) {
        Vector v;
        memcpy(&v, reinterpret_cast<const std::uint8_t*>(words.word) + j, sizeof(v));
        if (!kMasked || k + j < span.padded_end) {
          t.StoreGlobal(reinterpret_cast<Vector*>(to[j / kRun] + offset), v);
        }
      }
    });
  }

  // Each warp adds up the chunks that it has staged, 16 channels of every 64, over all pixels of
  // its warpgroup.
  template <class Shared>
  WEFT_DEVICE static void AddUp(arch::Thread t, const Shared& shared, const Output& p,
                                const ChannelSpan& span) {
    const auto& staged = shared.chunk[Map::Group(t)];
    WEFT_NO_UNROLL
    for (int chunk = t.warp() % 4; chunk < TileT::kChunks; chunk += 4) {
      const std::int32_t k = span.first + Pixels::ChannelOf(chunk);
      if (k >= span.end) return;
      AddUpChunks<TileT::kRows>(
          t, p, shared.image[Map::Group(t)] + Pixels::FirstOf(chunk), span.end,
          [&](int row) { return staged[Chunks::Place(row, chunk)]; },
          [&](int b) { return k + Chunks::ChannelOf(chunk, b); });
    }
  }

  // kRun outputs, stored by one instruction.
  struct alignas(kRun) Vector {
    unsigned char byte[kRun];
  };
};

// Where outputs have 16 bits, which are stored as soon as a thread has them (staged_values.hpp).
template <class TileT>
struct Absent<StagedBytes<TileT>> {
  template <class Shared>
  WEFT_DEVICE static std::uint32_t Place(arch::Thread, const Shared&, int, int) {
    return 0;
  }
  template <int kMatrices>
  WEFT_DEVICE static void Stage(arch::Thread, std::uint32_t, const std::uint32_t (&)[kMatrices]) {}
  // Without this barrier ptxas takes the warps for divergent, and serializes the next tile's wgmma.
  template <class Shared>
  WEFT_DEVICE static void Run(arch::Thread t, const Shared&, const typename TileT::Output&,
                              const typename TileT::ChannelSpan&) {
    TileT::Sync(t);
  }
};

template <class TileT>
using StagedBytesOf = PartIf<TileT::kByteOutputs, StagedBytes<TileT>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
