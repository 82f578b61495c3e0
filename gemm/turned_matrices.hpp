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
WEFT_DEVICE constexpr std::uint32_t TurnedChunkAt(int line, int chunk) {
  return static_cast<std::uint32_t>(line * kTurnedLine + ((chunk ^ line % 8) << 4));
}

// Boxes of 32 words by 32, each a warp's. A lane loads the line of its k and stores it as a column: eight lanes
// read 16 bytes of eight lines at once and 32 lanes write one line, so that neither has bank conflicts.
class TurnedWords {
 public:
  WEFT_DEVICE explicit TurnedWords(arch::Thread) {}

  // By warp `warp` of `warps`; number: the box's, of those in a stage.
  template <int kRows>
  WEFT_DEVICE void Turn(arch::Thread t, std::uint32_t box, int number, int warp, int warps) const {
    if (number % warps != warp) return;
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

// Boxes of 128 bytes by 128: blocks of 32 by 32 change places in pairs, those of the diagonal with themselves.
// ldmatrix turns matrices of 8 k by 16 rows in units of two rows: a lane then has two rows of two k. A second one
// brings the next two k, so that a word of four k of either row is a permutation of both; stmatrix stores matrices
// of 8 rows by 16 k.
//
// Which 8 of 16 k a matrix has is free as long as two lanes' words are neighbours, likewise which of its two rows
// a lane stores first. So that eight lines lie in eight different places of the swizzle, the first matrix
// has the first two of four k in the first half of them and the last two in the second, and the rows stored first
// are even ones in the first half and odd ones in the second.
class TurnedBytes {
 public:
  WEFT_DEVICE explicit TurnedBytes(arch::Thread t) {
    const int i = t.lane() % 8, second = t.lane() / 8 % 2, chunk = t.lane() / 16;
    load_ = TurnedChunkAt(i / 2 * 4 + i % 2 + ((i >= 4) != (second > 0) ? 2 : 0), chunk);
    store_ = TurnedChunkAt(16 * chunk + 2 * i + ((i >= 4) != (second > 0) ? 1 : 0), 0);
    // This lane's k of a loaded register, and its row of a stored one.
    const std::uint32_t both = t.lane() % 4 < 2 ? 0x6420u : 0x2064u;
    first_ = both + (t.lane() < 16 ? 0u : 0x1111u);
    second_ = both + (t.lane() < 16 ? 0x1111u : 0u);
  }

  // kRows: how many of the box are multiplied. The warps share the blocks.
  template <int kRows>
  WEFT_DEVICE void Turn(arch::Thread t, std::uint32_t box, int /*number*/, int warp,
                        int warps) const {
    constexpr Units kUnits = UnitsOf(CeilDiv(kRows, kBlock));
    // While a unit is stored the next one is on its way.
    Unit unit[2];
    unit[0] = Load(t, box, kUnits, warp);
    WEFT_UNROLL
    for (int i = 0; i < CeilDiv(kUnits.count, kLeastWarps); ++i) {
      const int next = (i + 1) * warps + warp;
      t.SyncWarp();  // all of the unit has been read
      if (next < kUnits.count) unit[(i + 1) % 2] = Load(t, box, kUnits, next);
      if (next - warps < kUnits.count) Store(t, box, unit[i % 2]);
    }
  }

 private:
  static constexpr int kBlock = 32, kBlocks = 4, kLeastWarps = 2;
  // Blocks (row, k) with row <= k, five bits each: row, k, and whether block (k, row) is one, too, that
  // the unit then has.
  struct Units {
    std::uint64_t bits = 0;
    int count = 0;
  };
  // For `blocks` of rows. Of what is not multiplied nothing is turned, and its place may be taken.
  static constexpr Units UnitsOf(int blocks) {
    Units units;
    for (int apart = kBlocks - 1; apart >= 0; --apart) {
      for (int i = 0; i < blocks && i + apart < kBlocks; ++i) {
        const int k = i + apart;
        const auto unit = static_cast<std::uint64_t>(i | k << 2 | (i < k && k < blocks ? 16 : 0));
        units.bits |= unit << (5 * units.count++);
      }
    }
    return units;
  }
  struct Unit {
    std::uint32_t row = 0, k = 0;  // in bytes
    bool pair = false;
    std::uint32_t word[2][2][4] = {};
  };

  WEFT_DEVICE Unit Load(arch::Thread t, std::uint32_t box, const Units& units, int i) const {
    const auto bits = static_cast<std::uint32_t>(units.bits >> (5 * i));
    Unit unit;
    unit.row = bits % 4 * kBlock;
    unit.k = bits / 4 % 4 * kBlock;
    unit.pair = (bits & 16) != 0;
    LoadBlock(t, box, unit.row, unit.k, unit.word[0]);
    if (unit.pair) LoadBlock(t, box, unit.k, unit.row, unit.word[1]);
    return unit;
  }
  WEFT_DEVICE void Store(arch::Thread t, std::uint32_t box, const Unit& unit) const {
    StoreBlock(t, box, unit.row, unit.k, unit.word[0]);
    if (unit.pair) StoreBlock(t, box, unit.k, unit.row, unit.word[1]);
  }

  // The block of 32 rows from `row` on of 32 k from `k` on, 16 k at a time.
  WEFT_DEVICE void LoadBlock(arch::Thread t, std::uint32_t box, std::uint32_t row, std::uint32_t k,
                             std::uint32_t (&word)[2][4]) const {
    WEFT_UNROLL
    for (std::uint32_t half = 0; half < 2; ++half) {
      t.template LdMatrixTrans<4>(word[half],
                                  ((box + load_) ^ row) + (k + 16 * half) * kTurnedLine);
    }
  }
  WEFT_DEVICE void StoreBlock(arch::Thread t, std::uint32_t box, std::uint32_t row, std::uint32_t k,
                              const std::uint32_t (&word)[2][4]) const {
    WEFT_UNROLL
    for (std::uint32_t half = 0; half < 2; ++half) {
      std::uint32_t turned[4];
      WEFT_UNROLL
      for (int i = 0; i < 4; i += 2) {
        turned[i] = t.BytePermute(word[half][i], word[half][i + 1], first_);
        turned[i + 1] = t.BytePermute(word[half][i], word[half][i + 1], second_);
      }
      t.template StMatrix<4>(((box + store_) ^ (k + 16 * half)) + row * kTurnedLine, turned);
    }
  }

  std::uint32_t load_, store_, first_, second_;
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
      box_.template Turn<kRows>(t, box + static_cast<std::uint32_t>(i * kBoxBytes), first + i,
                                warp_, M::kFillWarps);
    }
    if constexpr (kRest > 0) {
      box_.template Turn<kRest>(t, box + static_cast<std::uint32_t>(kWhole * kBoxBytes),
                                first + kWhole, warp_, M::kFillWarps);
    }
  }

  Box box_;
  int warp_, b_offset_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
