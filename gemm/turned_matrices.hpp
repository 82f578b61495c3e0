// Matrices whose k does not run along memory, for tensor cores that read k side by side: tf32 and bytes through
// wgmma_sm90.
//
// The copy engine brings boxes of 128 bytes of rows for as many k: a line for each k. Turned, a box is a line of
// 128 bytes of k for each row, with the same swizzle, and that is how lines of k would have come. Warps of the
// producers turn boxes in place once they have come (MbarRing::Fill), those of words a box at a time, those of
// bytes a part of it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/mbar_ring.hpp"
#include "weft/gemm/tile.hpp"

namespace weft::gemm {

// Rows, and k, of a box.
constexpr int TurnedBox(int element_bytes) {
  return 128 / element_bytes;
}

inline namespace WEFT_BACKEND {

// A line of a box, and where 16 bytes of one are, since the swizzle has put them there.
inline constexpr int kTurnedLine = 128;
constexpr std::uint32_t TurnedChunkAt(int line, int chunk) {
  return static_cast<std::uint32_t>(line * kTurnedLine + ((chunk ^ line % 8) << 4));
}

// Boxes of 32 words by 32, each a warp's. A lane loads the line of its k and stores it as a column: eight lanes
// read 16 bytes of eight lines at once and 32 lanes write one line, so that neither has bank conflicts.
class TurnedWords {
 public:
  WEFT_DEVICE explicit TurnedWords(arch::Thread) {}

  // By warp `warp` of kWarps; number: the box's, of those in a stage.
  template <int /*kRows*/, int kWarps>
  WEFT_DEVICE void Turn(arch::Thread t, std::uint32_t box, int number, int warp) const {
    if (number % kWarps != warp) return;
    Chunk line[kChunks];
    WEFT_UNROLL
    for (int c = 0; c < kChunks; ++c) {
      line[c] = t.template LoadSharedAt<Chunk>(box + TurnedChunkAt(t.lane(), c));
    }
    t.SyncWarp();  // all of the box has been read
    const auto word = static_cast<std::uint32_t>(t.lane() % 4 * 4);
    WEFT_UNROLL
    for (int row = 0; row < TurnedBox(4); ++row) {
      t.StoreSharedAt(box + TurnedChunkAt(row, t.lane() / 4) + word, line[row / 4].word[row % 4]);
    }
  }

 private:
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };
  static constexpr int kChunks = kTurnedLine / static_cast<int>(sizeof(Chunk));
};

// Boxes of 128 bytes by 128, in blocks of 16 by 16: block (i, j) of rows and of k changes places with block
// (j, i). ldmatrix turns matrices of 8 k by 16 rows in units of two rows: a lane then has two rows of two k. A
// second one brings the next two k, so that a word of four k of either row is a permutation of both; stmatrix
// stores matrices of 8 rows by 16 k. Two blocks, of half the lanes' addresses each, are a unit.
//
// Which 8 of 16 k a matrix has is free as long as two lanes' words are neighbours, likewise which of its two rows
// a lane stores first. So that eight lines lie in eight different places of the swizzle, the first matrix
// has the first two of four k in the first half of them and the last two in the second, and the rows stored first
// are even ones in the first half and odd ones in the second.
class TurnedBytes {
 public:
  WEFT_DEVICE explicit TurnedBytes(arch::Thread t) : upper_(t.lane() < 16 ? 0u : ~0u) {
    const int i = t.lane() % 8, second = (i >= 4) != (t.lane() % 16 >= 8) ? 1 : 0;
    load_ = TurnedChunkAt(i / 2 * 4 + i % 2 + 2 * second, 0);
    store_ = TurnedChunkAt(2 * i + second, 0);
    // This lane's k of a loaded register, and its row of a stored one.
    const std::uint32_t both = t.lane() % 4 < 2 ? 0x6420u : 0x2064u;
    first_ = both + (upper_ & 0x1111u);
    second_ = both + (~upper_ & 0x1111u);
  }

  // kRows: how many of the box are multiplied.
  template <int kRows, int kWarps>
  WEFT_DEVICE void Turn(arch::Thread t, std::uint32_t box, int /*number*/, int warp) const {
    // Kept here, or ptxas makes the addresses of all units before a tile's first slice, and spills them.
    std::uint32_t own[] = {load_, store_, first_, second_, upper_};
    t.KeepInPlace(own);
    constexpr int kTurns = CeilDiv(kBlocks, kWarps);
    // While the units of a distance are stored those of the next are on their way.
    std::uint32_t word[2][4][4];
    WEFT_UNROLL
    for (int i = 0; i <= kTurns; ++i) {
      const Distance next(i * kWarps + warp);
      if (next.Exists() && i < kTurns) {
        WEFT_UNROLL
        for (int u = 0; u < 4; ++u) {
          if (!Turns<kRows>(next, u)) continue;
          const std::uint32_t at = next.Places(own[4], false) ^ next.Unit(u) ^ own[0];
          t.template LdMatrixTrans<4>(word[i % 2][u], box + at);
        }
      }
      t.SyncWarp();  // what is stored next has been read
      const Distance now(next.apart - kWarps);
      if (i == 0 || !now.Exists()) continue;
      WEFT_UNROLL
      for (int u = 0; u < 4; ++u) {
        if (!Turns<kRows>(now, u)) continue;
        const std::uint32_t at = now.Places(own[4], true) ^ now.Unit(u) ^ own[1];
        Store(t, box + at, own[2], own[3], word[(i + 1) % 2][u]);
      }
    }
  }

 private:
  static constexpr int kBlock = 16, kBlocks = 8;

  static constexpr std::uint32_t Both(int n) {
    return static_cast<std::uint32_t>(n << 4 | n << 11);
  }

  // Blocks (i, j) and (j, i) are units of distance i ^ j, four of each, by the smaller i, which lacks the
  // distance's highest bit and has each of the other two or not; of distance 0 are (i, i) and (i + 4, i + 4).
  struct Distance {
    WEFT_DEVICE explicit Distance(int d)
        : apart(d), low(d == 1 ? 2 : 1), high(d == 0 || d >= 4 ? 2 : 4) {}
    WEFT_DEVICE bool Exists() const { return apart < kBlocks; }
    WEFT_DEVICE int First(int u) const { return u % 2 * low + u / 2 * high; }
    WEFT_DEVICE std::uint32_t Unit(int u) const { return Both(First(u)); }
    // Where a lane's block of unit 0 is to be read, or stored: of block (i, j) 16 bytes of rows are i
    // and 16 lines of k its j; turned, the other way round. The upper lanes, whose bits are all set in
    // `upper`, have block (j, i).
    WEFT_DEVICE std::uint32_t Places(std::uint32_t upper, bool stored) const {
      const auto lines = static_cast<std::uint32_t>(apart << 11);
      const auto bytes = static_cast<std::uint32_t>(apart << 4);
      if (apart == 0) return upper & Both(4);
      return (stored ? bytes : lines) ^ (upper & (lines ^ bytes));
    }
    int apart, low, high;
  };
  // Of what is not multiplied nothing need be turned.
  template <int kRows>
  WEFT_DEVICE static bool Turns(const Distance& d, int u) {
    return kRows > kBlock * (kBlocks - 1) || d.First(u) * kBlock < kRows;
  }

  WEFT_DEVICE static void Store(arch::Thread t, std::uint32_t at, std::uint32_t first,
                                std::uint32_t second, const std::uint32_t (&word)[4]) {
    std::uint32_t turned[4];
    WEFT_UNROLL
    for (int i = 0; i < 4; i += 2) {
      turned[i] = t.BytePermute(word[i], word[i + 1], first);
      turned[i + 1] = t.BytePermute(word[i], word[i + 1], second);
    }
    t.template StMatrix<4>(at, turned);
  }

  std::uint32_t upper_, load_, store_, first_, second_;
};

// What fills the stages of mainloop M (MbarRing). kTurnsA, kTurnsB: whether A (B) is turned.
template <class M, int kElementBytes, bool kTurnsA, bool kTurnsB>
class TurnMatrices {
  using Box = std::conditional_t<kElementBytes == 4, TurnedWords, TurnedBytes>;
  static constexpr int kRows = TurnedBox(kElementBytes), kBoxBytes = kRows * kTurnedLine;

 public:
  template <class Params>
  WEFT_DEVICE TurnMatrices(arch::Thread t, const Params& p, const FillMemory&)
      : box_(t), warp_(M::Pipeline::NumberOfFillWarp(t)), b_offset_(p.ring.b_offset) {}

  template <class Params>
  WEFT_DEVICE static bool HasWork(const Params&) {
    return true;
  }
  template <class Tile>
  WEFT_DEVICE void Aim(arch::Thread, const Tile&, int) {}
  WEFT_DEVICE bool Prepare(arch::Thread, int) { return true; }

  WEFT_DEVICE void Fill(arch::Thread t, std::uint32_t stage) const {
    constexpr int kBoxesA = CeilDiv(M::kBlockM, kRows);
    if constexpr (kTurnsA) Turn<M::kBlockM>(t, stage, 0);
    if constexpr (kTurnsB) {
      Turn<M::kBlockN>(t, stage + static_cast<std::uint32_t>(b_offset_), kTurnsA ? kBoxesA : 0);
    }
  }

 private:
  // The boxes of an operand of kAll rows; first: number of the first one of them in a stage.
  template <int kAll>
  WEFT_DEVICE void Turn(arch::Thread t, std::uint32_t box, int first) const {
    constexpr int kWhole = kAll / kRows, kRest = kAll % kRows;
    WEFT_NO_UNROLL
    for (int i = 0; i < kWhole; ++i) {
      box_.template Turn<kRows, M::kFillWarps>(t, box + static_cast<std::uint32_t>(i * kBoxBytes),
                                               first + i, warp_);
    }
    if constexpr (kRest > 0) {
      box_.template Turn<kRest, M::kFillWarps>(
          t, box + static_cast<std::uint32_t>(kWhole * kBoxBytes), first + kWhole, warp_);
    }
  }

  Box box_;
  int warp_, b_offset_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
