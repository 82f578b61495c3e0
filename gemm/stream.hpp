// Slices of tiles divided evenly among the blocks of a grid that stays, for products whose tiles leave
// the last wave of blocks mostly idle: each block takes as many whole tiles as all blocks can, and an
// equal share of the slices of the rest, at most two tiles' for each block.
//
// A block that has a part of a tile's slices leaves its sums in a workspace; who is the last to leave
// some adds all of them up, in ascending k, and stores the tile. So nobody waits for another block, and
// sums are the same whoever comes last: bits depend on the number of blocks alone.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile.hpp"

namespace weft::gemm {

// How much the workspace has room for.
inline constexpr int kMostStreamBlocks = 320;

struct StreamParams {
  // For each tile whose slices are divided and each warpgroup: how many parts have been left. 0 before the
  // kernel, and again behind it.
  std::int32_t* arrived = nullptr;
  // Two parts for each block, of whole tiles of sums: of its first divided tile, and of its last.
  void* sums = nullptr;
};

// Bytes of the workspace for `blocks` blocks with tiles of tile_sums sums of four bytes, `groups`
// warpgroups each: what is arrived, then the sums.
constexpr std::int64_t StreamArrivedBytes(std::int64_t blocks, int groups) {
  return (2 * blocks * groups * 4 + 255) / 256 * 256;
}
constexpr std::int64_t StreamBytes(std::int64_t blocks, int groups, std::int64_t tile_sums) {
  return StreamArrivedBytes(blocks, groups) + 2 * blocks * tile_sums * 4;
}

// The share of one block of `blocks`.
class StreamShare {
 public:
  StreamShare() = default;
  // tiles, slices (of a tile), blocks: at least 1; twice the blocks times the slices fit 31 bits.
  constexpr StreamShare(int tiles, int slices, int block, int blocks)
      : slices_(slices), block_(block), blocks_(blocks) {
    // The last wave of whole tiles is divided with what follows, so that parts are half a tile or more.
    waves_ = tiles / blocks;
    if (waves_ > 0 && tiles > waves_ * blocks) --waves_;
    const int all = (tiles - waves_ * blocks) * slices;
    share_ = all / blocks;
    longer_ = all - share_ * blocks;
    const int begin = Begin(block), end = Begin(block + 1);
    first_ = begin / slices;
    first_slice_ = begin - first_ * slices;
    last_ = end > begin ? (end - 1) / slices : first_ - 1;
    last_slice_ = end - last_ * slices;
  }

  // Turns that the block takes, and what it takes in one: a tile, and which of its slices.
  constexpr int Turns() const { return waves_ + last_ - first_ + 1; }
  constexpr int Tile(int turn) const {
    return turn < waves_ ? turn * blocks_ + block_ : waves_ * blocks_ + first_ + turn - waves_;
  }
  constexpr SliceRange Slices(int turn) const {
    const int divided = first_ + turn - waves_;
    if (turn < waves_) return {0, slices_, slices_};
    return {divided == first_ ? first_slice_ : 0, divided == last_ ? last_slice_ : slices_,
            slices_};
  }

  // Of a turn whose slices are not all of the tile's: the number of the tile among those that are
  // divided; the blocks that have a part of it; and where a block leaves it.
  constexpr int Divided(int turn) const { return first_ + turn - waves_; }
  constexpr int FirstBlock(int divided) const { return BlockOf(divided * slices_); }
  constexpr int LastBlock(int divided) const { return BlockOf((divided + 1) * slices_ - 1); }
  constexpr int Place(int divided, int block) const {
    return 2 * block + (Begin(block) / slices_ == divided ? 0 : 1);
  }

 private:
  // Slices are counted through all divided tiles. The first blocks have one more.
  constexpr int Begin(int block) const {
    return block * share_ + (block < longer_ ? block : longer_);
  }
  constexpr int BlockOf(int slice) const {
    const int of_longer = longer_ * (share_ + 1);
    return slice < of_longer ? slice / (share_ + 1) : longer_ + (slice - of_longer) / share_;
  }

  int slices_, block_, blocks_;
  int waves_;           // of whole tiles
  int share_, longer_;  // slices of a block, and blocks that have one more
  int first_, first_slice_, last_, last_slice_;
};

inline namespace WEFT_BACKEND {

// Mma: a mainloop of warpgroups (WgmmaSm90Mainloop).
template <class Mma>
class StreamSums {
  using Sum = typename Mma::Sum;
  static constexpr int kPieces = Mma::kBlocks * Mma::kN / 8;  // of a thread, of 4 sums each
  struct alignas(16) Piece {
    Sum sum[4];
  };

 public:
  struct Shared {
    StreamShare
        share;  // the block's; here, as threads have no registers left for it beside the sums
    std::int32_t is_last[Mma::kGroups];
  };

  // By all threads, before a barrier of the block.
  WEFT_DEVICE static void Begin(arch::Thread t, Shared& shared, int tiles, int slices) {
    if (t.tid() == 0) shared.share = StreamShare(tiles, slices, t.block_x(), t.grid_x());
  }

  // By the threads that multiply, after a turn that was a part of a tile. Whether the tile is complete;
  // then acc is the tile's, else it has been left for another block.
  WEFT_DEVICE static bool Add(arch::Thread t, const StreamParams& p, Shared& shared, int turn,
                              typename Mma::Accumulators& acc) {
    const StreamShare& share = shared.share;
    const int group = Mma::Map::Group(t), divided = share.Divided(turn);
    const int first = share.FirstBlock(divided), last = share.LastBlock(divided);
    Piece* const own = PlaceOf(t, p, share.Place(divided, t.block_x()));
    WEFT_UNROLL
    for (int i = 0; i < kPieces; ++i) {
      Piece piece;
      WEFT_UNROLL
      for (int e = 0; e < 4; ++e) piece.sum[e] = At(acc, 4 * i + e);
      t.StoreGlobal(own + i * Mma::kThreads, piece);
    }
    t.BarSync(1 + group, 128);
    std::int32_t* const arrived = p.arrived + divided * Mma::kGroups + group;
    if (t.tid() % 128 == 0) {
      const bool is_last = t.FetchAddGlobal(arrived, 1) == last - first;
      if (is_last) t.StoreGlobal(arrived, 0);
      t.StoreShared(&shared.is_last[group], std::int32_t{is_last});
    }
    t.BarSync(1 + group, 128);
    if (t.WarpUniform(t.LoadShared(&shared.is_last[group])) == 0) return false;
    // The first two may be added either way round, so that sums which are one of them stay.
    const int block = t.block_x();
    const bool stay = block <= first + 1;
    if (!stay) {
      Mma::Clear(acc);
      Mma::Keep(t, acc);
    }
    WEFT_NO_UNROLL
    for (int other = first; other <= last; ++other) {
      if (stay && other == block) continue;
      AddPart(t, PlaceOf(t, p, share.Place(divided, other)), acc);
    }
    return true;
  }

 private:
  // acc += what lies there, kAtOnce pieces at a time: ptxas would have more under way than there are
  // registers for.
  static constexpr int kAtOnce = 8;
  WEFT_DEVICE static void AddPart(arch::Thread t, const Piece* from,
                                  typename Mma::Accumulators& acc) {
    WEFT_UNROLL
    for (int i = 0; i < kPieces; i += kAtOnce) {
      Piece piece[kAtOnce];
      WEFT_UNROLL
      for (int j = 0; j < kAtOnce && i + j < kPieces; ++j) {
        piece[j] = t.LoadGlobalCoherent(from + (i + j) * Mma::kThreads);
      }
      WEFT_UNROLL
      for (int j = 0; j < kAtOnce && i + j < kPieces; ++j) {
        Sum sum[4];
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) sum[e] = At(acc, 4 * (i + j) + e) + piece[j].sum[e];
        t.KeepInPlace(sum);
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) At(acc, 4 * (i + j) + e) = sum[e];
      }
    }
  }
  WEFT_DEVICE static Sum& At(typename Mma::Accumulators& acc, int i) {
    return acc[i / (Mma::kN / 2)][i % (Mma::kN / 2)];
  }
  // Pieces of a number lie side by side for all threads.
  WEFT_DEVICE static Piece* PlaceOf(arch::Thread t, const StreamParams& p, int place) {
    return static_cast<Piece*>(p.sums) + std::int64_t{place} * (kPieces * Mma::kThreads) + t.tid();
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
