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
  // A lane of the issuing warp has one block of channels of one line of the tile.
  static constexpr int kBlocks = kChunks / 2, kLines = 32 / kBlocks;
  static_assert(kLines > 2);
  static constexpr bool kResidual = TileT::Epilogue::kHasResidual;

  // A block of channels of neighbouring pixels, which is a lane's to copy.
  struct Run {
    std::int64_t offset;          // where it begins in the tensor, in elements
    std::uint32_t staged, bytes;  // where in the staged tile, and how long it is; 0: there is none
  };
  struct Kept {
    Run run;
    std::int32_t parity = 0;  // of the residual's next phase (Landed)
    std::int32_t issues = 0;  // 1: the thread's warp issues the copies
  };

  // Whether the tiles of this launch are copied so; the answer is the same for all of them. Lines of a
  // few pixels would be more copies than take the time of single chunks by every thread, or than a
  // warp has lanes.
  WEFT_DEVICE static bool Used(const Output& p) {
    constexpr std::int32_t kLeastPixels = 8, kLeastRows = CeilDiv(kRows, kLines - 2);
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
                                  std::int32_t first_m, std::int32_t first_n, Kept& kept) {
    if (kept.issues == 0) return;
    kept.run = Find(t, p, tile, first_m, first_n);
    t.template TmaStoreWaitRead<0>();
    t.SyncWarp();
  }
  // The same, and starts to load the residual.
  template <class SharedT, class Tile>
  WEFT_DEVICE static void Load(arch::Thread t, SharedT& shared, const Output& p, const Tile& tile,
                               std::int32_t first_m, std::int32_t first_n, Kept& kept) {
    if (kept.issues == 0) return;
    kept.run = Find(t, p, tile, first_m, first_n);
    auto bytes = static_cast<std::int32_t>(kept.run.bytes);
    WEFT_UNROLL
    for (int x = 1; x < 32; x *= 2) bytes += t.ShflXor(bytes, x);
    const std::uint32_t landed = Landed(t, shared);
    if (t.lane() == 0) t.MbarArriveTx(landed, bytes);
    t.template TmaStoreWaitRead<0>();
    t.SyncWarp();
    if (kept.run.bytes > 0) {
      t.BulkLoad(StagedAt(t, shared) + kept.run.staged, p.residual + kept.run.offset,
                 kept.run.bytes, landed);
    }
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
    if (kept.run.bytes > 0) {
      t.BulkStore(p.dst + kept.run.offset, StagedAt(t, shared) + kept.run.staged, kept.run.bytes);
    }
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

  template <class SharedT>
  WEFT_DEVICE static std::uint32_t StagedAt(arch::Thread t, const SharedT& shared) {
    return t.SharedAddress(shared.chunk[Map::Group(t)]);
  }

  // The run of a lane: what the tile has of the lane's line, counted from the tile's first.
  template <class Tile>
  WEFT_DEVICE static Run Find(arch::Thread t, const Output& p, const Tile& tile,
                              std::int32_t first_m, std::int32_t first_n) {
    const std::int32_t m = first_m + Map::FirstPixel(t);
    const std::int32_t number = t.lane() / kBlocks, block = t.lane() % kBlocks;
    const std::int32_t left = p.rows.rows - m, most = left < kRows ? left : kRows;
    const std::int32_t line = p.rows.lines.divisor();
    std::int32_t before = 0;  // rows of the first line that the tile is without
    p.rows.lines.Divmod(m, before);
    // No later line than the second begins in the tile if a line is as long as that.
    const bool near = number < 2 || (number < kLines && line < kRows);
    const std::int32_t begin = near ? number * line - before : kRows;
    const std::int32_t first = begin < 0 ? 0 : begin < kRows ? begin : kRows;
    std::int32_t rows = 0;
    if (begin < most) {
      const std::int32_t rest = most - begin;
      rows = begin + (rest < p.rows.line_pixels ? rest : p.rows.line_pixels) - first;
    }
    const std::int32_t k =
        p.rows.FirstChannel(tile) + first_n + Map::FirstChannel(t) + block * kBlock;
    const OutputPixel pixel = p.rows.Pixel(tile, m + first);
    const bool exists = pixel.inside && rows > 0 && k < p.rows.EndChannel(tile, p.k);
    const std::int64_t plane = std::int64_t{static_cast<std::int32_t>(p.extents.h)} *
                               static_cast<std::int32_t>(p.extents.w) * kBlock;
    const std::int32_t blocks = CeilDiv(static_cast<std::int32_t>(p.extents.c), kBlock);
    return {(std::int64_t{pixel.n} * blocks + k / kBlock) * plane +
                PixelOffset<Dst>(p.extents, pixel.pq),
            static_cast<std::uint32_t>((block * kRows + first) * kBlock),
            exists ? static_cast<std::uint32_t>(rows * kBlock) : 0u};
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
                                  std::int32_t, std::int32_t, Kept&) {}
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
