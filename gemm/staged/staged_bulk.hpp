// Bulk copies of a staged tile (staged_store.hpp). In a tensor in blocks of 32 channels, pixels that
// follow each other are one piece of memory for each block. Where the rows of a tile are such pixels,
// in lines (RowsTraits::kHasLines), the tile lies in shared memory as it does in the tensor, and a few
// copies of whole runs of pixels load the residual and store the outputs: one warp of a warpgroup
// issues them, and nobody works out where single pixels lie.
//
// The bytes of a chunk are not in the order of channels while ldmatrix and stmatrix handle it
// (staged_chunk.hpp), so that all threads put them in order between those and the copies. On the way
// they also exchange the two chunks of a block in every other four rows: the 8 rows of a matrix lie in
// different banks then.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/pixel_offset.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// TileT: a StagedTile with kBulk.
template <class TileT>
struct BulkCopies {
  using Output = typename TileT::Output;
  using Dst = typename TileT::Dst;
  using Map = typename TileT::Map;
  using Chunks = typename TileT::Chunks;
  using Chunk = typename TileT::Chunk;
  using ChannelSpan = typename TileT::ChannelSpan;
  static constexpr int kRows = TileT::kRows, kChunks = TileT::kChunks;
  static constexpr int kBlock = 32;  // channels, and bytes of a pixel
  static constexpr bool kResidual = TileT::Epilogue::kHasResidual;

  // Rows of the tile that are neighbouring pixels, as one lane of the issuing warp knows them.
  struct Run {
    std::int64_t offset;       // of the first pixel in the tensor, in elements
    std::int32_t first, rows;  // the first row, and how many there are; 0: none
  };
  struct Kept {
    Run run;
    std::int32_t parity = 0;  // of the residual's next phase (Landed)
    std::int32_t issues = 0;  // 1: the thread's warp issues the copies
  };

  // Whether the tiles of this launch are copied so; the answer is the same for all of them. Lines of a
  // few pixels are as many copies as take longer than single chunks by every thread. Each lane of a
  // warp has one line.
  WEFT_DEVICE static bool Used(const Output& p) {
    constexpr std::int32_t kLeastPixels = 8, kLeastRows = CeilDiv(kRows, 30);
    return p.rows.line_pixels >= kLeastPixels && p.rows.lines.divisor() >= kLeastRows &&
           (!kResidual || p.ReadsResidual());
  }

  // Called once, by all threads of the warpgroup.
  template <class SharedT>
  WEFT_DEVICE static void Start(arch::Thread t, SharedT& shared, const Output& p, Kept& kept) {
    if (!Used(p)) return;
    // The issuers of a multiprocessor's warpgroups, of which two blocks come from both halves of the
    // grid, are warps of different schedulers.
    const int other_half = t.block_x() >= t.grid_x() / 2 ? 2 : 0;
    const int warp = t.WarpUniform(t.warp());
    kept.issues = (warp / 4 + other_half - warp) % 4 == 0;
    if constexpr (kResidual) {
      if (kept.issues != 0 && t.ElectOne()) {
        t.MbarInit(Landed(t, shared), 1);
        t.FenceMbarInit();
      }
      TileT::Sync(t);
    }
  }
  // Called by every thread after its last tile: memory that is still being read must stay.
  WEFT_DEVICE static void Finish(arch::Thread t) { t.template TmaStoreWaitRead<0>(); }

  // Finds the runs of the tile, when the last one's staged bytes have been read. The other threads may
  // stage theirs after a barrier.
  template <class Tile>
  WEFT_DEVICE static void Prepare(arch::Thread t, const Output& p, const Tile& tile,
                                  std::int32_t first_m, Kept& kept) {
    if (kept.issues == 0) return;
    kept.run = Find(t, p, tile, first_m);
    t.template TmaStoreWaitRead<0>();
    t.SyncWarp();
  }
  // The same, and starts to load the residual.
  template <class SharedT, class Tile>
  WEFT_DEVICE static void Load(arch::Thread t, SharedT& shared, const Output& p, const Tile& tile,
                               std::int32_t first_m, std::int32_t first_n, Kept& kept) {
    if (kept.issues == 0) return;
    kept.run = Find(t, p, tile, first_m);
    const std::int32_t end = p.rows.EndChannel(tile, p.k);
    const std::int32_t first_k = p.rows.FirstChannel(tile) + first_n + Map::FirstChannel(t);
    const int blocks = BlocksOf(first_k, end);
    std::int32_t rows = kept.run.rows;
    WEFT_UNROLL
    for (int x = 1; x < 32; x *= 2) rows += t.ShflXor(rows, x);
    const std::uint32_t landed = Landed(t, shared);
    if (t.lane() == 0) t.MbarArriveTx(landed, rows * blocks * kBlock);
    t.template TmaStoreWaitRead<0>();
    t.SyncWarp();
    ForEachBlock(t, shared, p, first_k, blocks, kept.run,
                 [&](std::int64_t offset, std::uint32_t staged, std::uint32_t bytes) {
                   t.BulkLoad(staged, p.residual + offset, bytes, landed);
                 });
    t.SyncWarp();
  }

  // Waits for the residual and puts this thread's share of it in the order in which ldmatrix hands it
  // out. The shares of other threads may be read after a barrier.
  template <class SharedT>
  WEFT_DEVICE static void Await(arch::Thread t, SharedT& shared, Kept& kept) {
    if constexpr (kResidual) {
      t.MbarWait(Landed(t, shared), kept.parity);
      kept.parity ^= 1;
      const int chunk = TileT::MineOf(t).chunk;
      Exchange<false>(t, shared, [&](Chunk& words) {
        if constexpr (!Chunks::kInOrder) Chunks::ToFragments(t, chunk, words);
      });
    }
  }

  // Stores the tile. All threads of a warpgroup call it; a barrier waits until all of them have staged
  // their outputs.
  template <class SharedT>
  WEFT_DEVICE static void Store(arch::Thread t, SharedT& shared, const Output& p,
                                const ChannelSpan& span, const Kept& kept) {
    TileT::Sync(t);
    if (span.end - span.first >= 16 * kChunks) {
      PutInOrder<false>(t, shared, span);
    } else {
      PutInOrder<true>(t, shared, span);
    }
    t.FenceProxyAsync();
    TileT::Sync(t);
    if (kept.issues == 0) return;
    ForEachBlock(t, shared, p, span.first, BlocksOf(span.first, span.padded_end), kept.run,
                 [&](std::int64_t offset, std::uint32_t staged, std::uint32_t bytes) {
                   t.BulkStore(p.dst + offset, staged, bytes);
                 });
    t.TmaStoreCommit();
    t.SyncWarp();
  }

 private:
  // The mbarrier of which a phase ends when a tile's residual has landed. It lies where the pixels'
  // places are kept for single copies: another KB of shared memory would cost some tiles a stage.
  template <class SharedT>
  WEFT_DEVICE static std::uint32_t Landed(arch::Thread t, const SharedT& shared) {
    return t.SharedAddress(shared.offset[Map::Group(t)]);
  }

  // The blocks of channels from first_k on that the tile and the tensor have.
  WEFT_DEVICE static int BlocksOf(std::int32_t first_k, std::int32_t end) {
    const std::int32_t channels = end > first_k ? end - first_k : 0;
    const std::int32_t blocks = CeilDiv(channels, kBlock);
    return blocks < kChunks / 2 ? blocks : kChunks / 2;
  }

  // The elements of a block of channels of an image.
  WEFT_DEVICE static std::int64_t PlaneOf(const Output& p) {
    return std::int64_t{static_cast<std::int32_t>(p.extents.h)} *
           static_cast<std::int32_t>(p.extents.w) * kBlock;
  }

  // The run of a lane: what the tile has of the lane's line, counted from the tile's first.
  template <class Tile>
  WEFT_DEVICE static Run Find(arch::Thread t, const Output& p, const Tile& tile,
                              std::int32_t first_m) {
    const std::int32_t m = first_m + Map::FirstPixel(t), lane = t.lane();
    const std::int32_t left = p.rows.rows - m, most = left < kRows ? left : kRows;
    const std::int32_t line = p.rows.lines.divisor();
    std::int32_t before = 0;  // rows of the first line that the tile is without
    p.rows.lines.Divmod(m, before);
    // No later line than the second begins in the tile if a line is as long as that.
    const std::int32_t begin = lane < 2 || line < kRows ? lane * line - before : kRows;
    const std::int32_t first = begin < 0 ? 0 : begin < kRows ? begin : kRows;
    std::int32_t end = first;
    if (begin < most) {
      const std::int32_t rest = most - begin;
      end = begin + (rest < p.rows.line_pixels ? rest : p.rows.line_pixels);
    }
    const OutputPixel pixel = p.rows.Pixel(tile, m + first);
    const std::int32_t blocks = CeilDiv(static_cast<std::int32_t>(p.extents.c), kBlock);
    return {pixel.n * (blocks * PlaneOf(p)) + PixelOffset<Dst>(p.extents, pixel.pq), first,
            pixel.inside && end > first ? end - first : 0};
  }

  // copy(where it is in the tensor, where in shared memory, bytes) for each block of each run.
  template <class SharedT, class Copy>
  WEFT_DEVICE static void ForEachBlock(arch::Thread t, const SharedT& shared, const Output& p,
                                       std::int32_t first_k, int blocks, const Run& run,
                                       const Copy& copy) {
    if (run.rows <= 0) return;
    const std::int64_t step = PlaneOf(p);
    std::int64_t offset = first_k / kBlock * step + run.offset;
    std::uint32_t staged = t.SharedAddress(shared.chunk[Map::Group(t)]) +
                           static_cast<std::uint32_t>(run.first * kBlock);
    WEFT_NO_UNROLL
    for (int i = 0; i < blocks; ++i) {
      copy(offset, staged, static_cast<std::uint32_t>(run.rows * kBlock));
      offset += step;
      staged += kRows * kBlock;
    }
  }

  // Puts outputs in the order of channels, those past the last being zeros.
  template <bool kMasked, class SharedT>
  WEFT_DEVICE static void PutInOrder(arch::Thread t, SharedT& shared, const ChannelSpan& span) {
    const int chunk = TileT::MineOf(t).chunk;
    const Chunk keep = Chunks::Mask(span.end - (span.first + 16 * chunk));
    [[maybe_unused]] std::uint32_t order[2];
    if constexpr (!Chunks::kInOrder) Chunks::InOrder(chunk, order);
    Exchange<true>(t, shared, [&](Chunk& words) {
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
    });
  }

  // Changes each chunk of the thread's share, and moves it from where stmatrix has stored it to where
  // bulk copies want it (kOut), or from there to where ldmatrix wants it. Its place may be that of the
  // next lane's chunk, which moves at the same time.
  template <bool kOut, class SharedT, class Change>
  WEFT_DEVICE static void Exchange(arch::Thread t, SharedT& shared, const Change& change) {
    constexpr int kStep = TileT::kStep, kAtOnce = 2 * kStep;
    auto& staged = shared.chunk[Map::Group(t)];
    const auto mine = TileT::MineOf(t);
    const auto has = [&](int i) {
      return (128 % kChunks == 0 || mine.chunk < kChunks) &&
             (i + kStep <= kRows || i + mine.row < kRows);
    };
    WEFT_UNROLL
    for (int i = 0; i < kRows; i += kAtOnce) {
      constexpr int kCount = kAtOnce / kStep;
      Chunk words[kCount];
      WEFT_UNROLL
      for (int j = i; j < i + kAtOnce && j < kRows; j += kStep) {
        if (!has(j)) continue;
        Chunk& c = words[(j - i) / kStep];
        c = t.LoadShared(reinterpret_cast<const Chunk*>(
            staged[Chunks::template PlaceOf<kOut>(j + mine.row, mine.chunk)]));
        change(c);
      }
      t.SyncWarp();
      WEFT_UNROLL
      for (int j = i; j < i + kAtOnce && j < kRows; j += kStep) {
        if (!has(j)) continue;
        t.StoreShared(reinterpret_cast<Chunk*>(
                          staged[Chunks::template PlaceOf<!kOut>(j + mine.row, mine.chunk)]),
                      words[(j - i) / kStep]);
      }
    }
  }
};

// Where single threads copy chunks (staged_bytes.hpp, staged_residual.hpp).
template <class TileT>
struct Absent<BulkCopies<TileT>> {
  struct Kept {};
  WEFT_DEVICE static constexpr bool Used(const typename TileT::Output&) { return false; }
  template <class SharedT>
  WEFT_DEVICE static void Start(arch::Thread, SharedT&, const typename TileT::Output&, Kept&) {}
  WEFT_DEVICE static void Finish(arch::Thread) {}
  template <class Tile>
  WEFT_DEVICE static void Prepare(arch::Thread, const typename TileT::Output&, const Tile&,
                                  std::int32_t, Kept&) {}
  template <class SharedT, class Tile>
  WEFT_DEVICE static void Load(arch::Thread, SharedT&, const typename TileT::Output&, const Tile&,
                               std::int32_t, std::int32_t, Kept&) {}
  template <class SharedT>
  WEFT_DEVICE static void Await(arch::Thread, SharedT&, Kept&) {}
  template <class SharedT>
  WEFT_DEVICE static void Store(arch::Thread, SharedT&, const typename TileT::Output&,
                                const typename TileT::ChannelSpan&, const Kept&) {}
};

template <class TileT>
using BulkCopiesOf = PartIf<TileT::kBulk, BulkCopies<TileT>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
