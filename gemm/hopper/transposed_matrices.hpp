// The stage transform that transposes MN-major matrices in shared memory, for elements of which
// wgmma reads K-major operands only: tf32 and bytes.
//
// TMA loads boxes of 128 bytes of rows for as many k: a line of 128 bytes for each k. Transposed, a
// box has a line of 128 bytes of k for each row, with the same swizzle, just as TMA would have
// loaded a K-major matrix. Transform warps transpose boxes in place once they have landed
// (MbarRing::Transform): of 4-byte elements each box is one warp's, of bytes both warps share each
// box.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/ring/mbar_ring.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/warp_tile.hpp"

namespace weft::gemm {

// Rows of a box, which has as many k: the elements of 128 bytes.
constexpr int TransposedBox(int element_bytes) {
  return 128 / element_bytes;
}

inline namespace WEFT_BACKEND {

// Bytes of a line of a box; and where in the box, in bytes, the 128-byte swizzle has put 16-byte
// chunk `chunk` of a line.
inline constexpr int kTransposedLine = 128;
constexpr std::uint32_t TransposedChunkAt(int line, int chunk) {
  return static_cast<std::uint32_t>(line * kTransposedLine + ((chunk ^ line % 8) << 4));
}

// Transposes boxes of 32 words by 32, each by one warp. A lane loads the line of its k and stores
// it as a column: eight lanes read 16 bytes of eight lines at once and 32 lanes write one line, so
// that neither has bank conflicts.
class TransposedWords {
 public:
  WEFT_DEVICE explicit TransposedWords(arch::Thread) {}

  // Called by all transform warps, of which this is number `warp` of `warps`; box: its shared
  // address; number: its number among the boxes of a stage, which decides on the warp.
  template <int kRows>
  WEFT_DEVICE void Transpose(arch::Thread t, std::uint32_t box, int number, int warp,
                             int warps) const {
    if (number % warps != warp) return;
    using Chunk = SharedVector<std::uint32_t, 4>;
    constexpr int kChunks = kTransposedLine / static_cast<int>(sizeof(Chunk));
    Chunk line[kChunks];
    WEFT_UNROLL
    for (int c = 0; c < kChunks; ++c) {
      line[c] = t.template LoadSharedAt<Chunk>(box + TransposedChunkAt(t.lane(), c));
    }
    t.SyncWarp();  // all of the box has been read
    const auto word = static_cast<std::uint32_t>(t.lane() % 4 * 4);
    WEFT_UNROLL
    for (int row = 0; row < TransposedBox(4); ++row) {
      t.StoreSharedAt(box + TransposedChunkAt(row, t.lane() / 4) + word,
                      line[row / 4].value[row % 4]);
    }
  }
};

// Transposes boxes of 128 bytes by 128 with two warps, in blocks of 16 by 16: block (i, j) of rows
// and of k changes places with block (j, i). ldmatrix transposes matrices of 8 k by 16 rows in
// units of two rows: a lane then has two rows of two k. A second matrix has the next two k, so that
// a word of four k of either row is a byte permutation of both words; stmatrix stores matrices of 8
// rows by 16 k. Two blocks are a unit: the lanes' addresses of either half warp are those of one
// block.
//
// Which 8 of the 16 k a matrix has is free as long as two lanes' words are neighbours, and so is
// which of its two rows a lane stores first. Both are chosen so that eight lines lie in eight
// different places of the swizzle: the first matrix has the first two of every four k in the first
// half of the 16 and the last two in the second, and the rows stored first are even ones in the
// first half and odd ones in the second.
//
// kAhead: how many distances (Places, below) are loaded ahead of the one that is stored; each takes
// eight registers.
template <int kAhead>
class TransposedBytes {
 public:
  WEFT_DEVICE explicit TransposedBytes(arch::Thread t) : upper_(t.lane() < 16 ? 0u : ~0u) {
    const int i = t.lane() % 8, second = (i >= 4) != (t.lane() % 16 >= 8) ? 1 : 0;
    load_ = TransposedChunkAt(i / 2 * 4 + i % 2 + 2 * second, 0);
    store_ = TransposedChunkAt(2 * i + second, 0);
    // BytePermute's selectors for the two rows that this lane stores, in that order: each puts four
    // k of a row side by side.
    const std::uint32_t both = t.lane() % 4 < 2 ? 0x6420u : 0x2064u;
    first_ = both + (upper_ & 0x1111u);
    second_ = both + (~upper_ & 0x1111u);
  }

  // Called by both transform warps. kRows: how many rows of the box are multiplied.
  template <int kRows>
  WEFT_DEVICE void Transpose(arch::Thread t, std::uint32_t box, int /*number*/, int warp,
                             int /*warps*/) const {
    // KeepInPlace holds these here: ptxas would compute the addresses of all units before a tile's
    // first k tile, and spill them.
    std::uint32_t own[] = {load_, store_, first_, second_, upper_, warp == 0 ? 0u : ~0u};
    t.KeepInPlace(own);
    std::uint32_t word[kAhead + 1][2][4];
    WEFT_UNROLL
    for (int i = 0; i < kBlocks + kAhead; ++i) {
      if (i < kBlocks) {
        WEFT_UNROLL
        for (int u = 0; u < 2; ++u) {
          const int from = FirstOf(i, u, warp);
          if (kRows > kBlock * (kBlocks - 1) || from * kBlock < kRows) {
            t.LdMatrixTrans(word[i % (kAhead + 1)][u],
                            box + (own[0] ^ Places(i, u, own[4], own[5], false)));
          }
        }
      }
      t.SyncWarp();  // what is stored next has been read
      if (i >= kAhead) {
        const int apart = i - kAhead;
        WEFT_UNROLL
        for (int u = 0; u < 2; ++u) {
          const int from = FirstOf(apart, u, warp);
          if (kRows > kBlock * (kBlocks - 1) || from * kBlock < kRows) {
            Store(t, box + (own[1] ^ Places(apart, u, own[4], own[5], true)), own[2], own[3],
                  word[apart % (kAhead + 1)][u]);
          }
        }
      }
    }
  }

 private:
  static constexpr int kBlock = 16, kBlocks = 8;

  // Blocks (i, j) and (j, i) are a unit of distance d = i ^ j. A distance has four units, which are
  // numbered by the smaller i, which lacks d's highest bit; those of distance 0 are (i, i) with (i
  // + 4, i + 4). Each warp has two units of each distance.
  static constexpr int WarpBit(int apart) { return apart == 1 ? 2 : 1; }
  static constexpr int UnitBit(int apart) { return apart == 0 || apart >= 4 ? 2 : 4; }
  static constexpr int FirstOf(int apart, int u, int warp) {
    return warp * WarpBit(apart) + u * UnitBit(apart);
  }
  static constexpr std::uint32_t Both(int n) {
    return static_cast<std::uint32_t>(n << 4 | n << 11);
  }
  // Where a lane reads, or stores, its block of a unit, as bits to be exclusive-ored into its
  // address: block (i, j) is bytes 16 i to 16 i + 15, which are rows, of the 16 lines from 16 j on,
  // which are k; transposed, the other way round. Lanes 16 to 31 have block (j, i). upper: all bits
  // in those lanes, otherwise none. second: all bits in the second warp, otherwise none.
  static constexpr std::uint32_t Places(int apart, int u, std::uint32_t upper, std::uint32_t second,
                                        bool stored) {
    const auto lines = static_cast<std::uint32_t>(apart << 11);
    const auto bytes = static_cast<std::uint32_t>(apart << 4);
    const std::uint32_t lower = apart == 0 ? 0 : stored ? bytes : lines;
    const std::uint32_t swapped = apart == 0 ? Both(4) : lines ^ bytes;
    return (second & Both(WarpBit(apart))) ^ (upper & swapped) ^ lower ^ Both(u * UnitBit(apart));
  }

  WEFT_DEVICE static void Store(arch::Thread t, std::uint32_t at, std::uint32_t first,
                                std::uint32_t second, const std::uint32_t (&word)[4]) {
    std::uint32_t transposed[4];
    WEFT_UNROLL
    for (int i = 0; i < 4; i += 2) {
      transposed[i] = t.BytePermute(word[i], word[i + 1], first);
      transposed[i + 1] = t.BytePermute(word[i], word[i + 1], second);
    }
    t.template StMatrix<4>(at, transposed);
  }

  std::uint32_t upper_, load_, store_, first_, second_;
};

// The stage transform of mainloop Mma (MbarRing). kTransposesA, kTransposesB: whether A (B) is
// transposed.
template <class Mma, int kElementBytes, bool kTransposesA, bool kTransposesB>
class TransposeMatrices : public TransformsEveryKTile<Mma> {
  using Box = std::conditional_t<kElementBytes == 4, TransposedWords,
                                 TransposedBytes<(Mma::kTransformRegisters - 40) / 8>>;
  static constexpr int kRows = TransposedBox(kElementBytes), kBoxBytes = kRows * kTransposedLine;
  static_assert(kElementBytes == 4 || Mma::kTransformWarps == 2);

 public:
  template <class Params>
  WEFT_DEVICE TransposeMatrices(arch::Thread t, const Params& p, const TransformMemory&)
      : TransformsEveryKTile<Mma>(t), box_(t), b_offset_(p.ring.b_offset) {}

  WEFT_DEVICE void Transform(arch::Thread t, std::uint32_t stage) const {
    constexpr int kBoxesA = CeilDiv(Mma::kBlockM, kRows);
    if constexpr (kTransposesA) Transpose<Mma::kBlockM>(t, stage, 0);
    if constexpr (kTransposesB) {
      Transpose<Mma::kBlockN>(t, stage + static_cast<std::uint32_t>(b_offset_),
                              kTransposesA ? kBoxesA : 0);
    }
  }

 private:
  // Transposes the boxes of an operand of kAll rows; first: the first one's number in the stage.
  template <int kAll>
  WEFT_DEVICE void Transpose(arch::Thread t, std::uint32_t box, int first) const {
    constexpr int kWhole = kAll / kRows, kRest = kAll % kRows;
    WEFT_NO_UNROLL
    for (int i = 0; i < kWhole; ++i) {
      box_.template Transpose<kRows>(t, box + static_cast<std::uint32_t>(i * kBoxBytes), first + i,
                                     this->warp_, Mma::kTransformWarps);
    }
    if constexpr (kRest > 0) {
      box_.template Transpose<kRest>(t, box + static_cast<std::uint32_t>(kWhole * kBoxBytes),
                                     first + kWhole, this->warp_, Mma::kTransformWarps);
    }
  }

  Box box_;
  int b_offset_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
