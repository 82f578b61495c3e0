// Matrices whose k does not run along memory, for tensor cores that read k side by side: tf32 through
// wgmma_sm90.
//
// The copy engine brings boxes of 32 k of 32 rows as they lie: a line of 128 bytes of rows for each k. Turned, a
// box is a line of 32 k for each row, the same 4 KB with the same swizzle, and that is how lines of k would have
// come. Warps of the producers turn boxes in place once they have come (MbarRing::Fill): a lane loads the line of
// its k and stores it as a column. Eight lanes read 16 bytes of eight lines at once and 32 lanes write one line,
// so that neither has bank conflicts.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/mbar_ring.hpp"
#include "weft/gemm/tile.hpp"

namespace weft::gemm {

// Rows, and k, of a box.
inline constexpr int kTurnedBox = 32;

inline namespace WEFT_BACKEND {

// What fills the stages of mainloop M (MbarRing). kTurnsA, kTurnsB: whether A (B) is turned.
template <class M, bool kTurnsA, bool kTurnsB>
class TurnMatrices {
  static constexpr int kBoxBytes = kTurnedBox * kTurnedBox * 4, kLine = kTurnedBox * 4;
  static constexpr int kBoxesA = kTurnsA ? CeilDiv(M::kBlockM, kTurnedBox) : 0;
  static constexpr int kBoxesB = kTurnsB ? CeilDiv(M::kBlockN, kTurnedBox) : 0;

 public:
  template <class Params>
  WEFT_DEVICE TurnMatrices(arch::Thread t, const Params& p, const FillMemory&)
      : first_(M::Pipeline::NumberOfFillWarp(t)), b_offset_(p.ring.b_offset) {}

  template <class Params>
  WEFT_DEVICE static bool HasWork(const Params&) {
    return true;
  }
  template <class Tile>
  WEFT_DEVICE void Aim(arch::Thread, const Tile&, int) {}
  WEFT_DEVICE bool Prepare(arch::Thread, int) { return true; }

  WEFT_DEVICE void Fill(arch::Thread t, std::uint32_t stage) const {
    WEFT_NO_UNROLL
    for (int i = first_; i < kBoxesA + kBoxesB; i += M::kFillWarps) {
      const int start = i < kBoxesA ? i * kBoxBytes : b_offset_ + (i - kBoxesA) * kBoxBytes;
      Turn(t, stage + static_cast<std::uint32_t>(start));
    }
  }

 private:
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };
  static constexpr int kChunks = kLine / static_cast<int>(sizeof(Chunk));

  // Where 16 bytes of a line are, and the swizzle has put them.
  static constexpr std::uint32_t ChunkAt(int line, int chunk) {
    return static_cast<std::uint32_t>(line * kLine + ((chunk ^ line % 8) << 4));
  }

  WEFT_DEVICE static void Turn(arch::Thread t, std::uint32_t box) {
    Chunk line[kChunks];
    WEFT_UNROLL
    for (int c = 0; c < kChunks; ++c) {
      line[c] = t.template LoadSharedAt<Chunk>(box + ChunkAt(t.lane(), c));
    }
    t.SyncWarp();  // all of the box has been read
    const auto word = static_cast<std::uint32_t>(t.lane() % 4 * 4);
    WEFT_UNROLL
    for (int row = 0; row < kTurnedBox; ++row) {
      t.StoreSharedAt(box + ChunkAt(row, t.lane() / 4) + word, line[row / 4].word[row % 4]);
    }
  }

  int first_, b_offset_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
