// GatherRing, the pipeline of operands whose rows begin at multiples of 8 bytes. TMA, which wants
// multiples of 16, cannot load them: the 128 threads of the producer warpgroup fill each stage by
// cp.async, in pieces of 8 bytes.
//
// A stage holds 128 bytes of k of each row of operand A and, behind them, of each row of operand B,
// with the 128-byte swizzle. The producer threads find the rows of a tile once, store what they
// found in a table in shared memory, and go through the table for every k tile. The stage's `full`
// mbarrier counts each thread's copies when they have landed, so that no producer waits for memory.
// wgmma sees what threads have copied only after a proxy fence, which the consumers execute when
// they have waited for the stage.
#pragma once

#include <concepts>
#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/hopper/mbar_ring.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// What an operand remembers of one row while it loads a tile's k tiles. Each operand type gives the
// fields their meaning.
struct alignas(16) GatheredRow {
  std::int64_t unit;
  std::int32_t h, w;
};

// The 8-byte pieces, and the bytes, that one row of a k tile has in a stage.
inline constexpr int kGatherUnits = 16, kGatherRowBytes = 128;

// An operand that the producer threads load together: Copy(t, to, k_tile, rows, thread) starts a
// thread's share of the copies of a k tile to the shared address `to`. rows: the table of operand
// A's rows. thread: 0 to 127.
template <class Type>
concept GathersKTiles = requires(const Type op, arch::Thread t, std::uint32_t to,
                                 const GatheredRow* rows) { op.Copy(t, to, 0, rows, 0); };
// A gathered operand A: Row(i) makes the table's entry for row i of the tile.
template <class Type>
concept GatheredRows = GathersKTiles<Type> && requires(const Type op) {
  { op.Row(0) } -> std::convertible_to<GatheredRow>;
};

// How 128 threads share the rows of a k tile that has `units` pieces of 8 bytes: 4, 8 or 16
// neighbouring threads take a row, so that they read neighbouring bytes, and each thread goes from
// row to row by a multiple of 8 rows, after which the swizzle repeats.
struct GatherShare {
  int unit, first_row, row_step;
  constexpr GatherShare(int thread, int units) {
    const int bits = units > 8 ? 4 : units > 4 ? 3 : 2;
    unit = thread & ((1 << bits) - 1);
    first_row = thread >> bits;
    row_step = 128 >> bits;
  }
  // The byte offset, in an operand's part of the stage, of this thread's piece of its first row.
  // The pieces of its further rows follow at intervals of Step() bytes.
  constexpr std::uint32_t Place() const {
    return static_cast<std::uint32_t>(first_row * kGatherRowBytes +
                                      (((unit >> 1) ^ (first_row & 7)) << 4) + ((unit & 1) << 3));
  }
  constexpr std::uint32_t Step() const {
    return static_cast<std::uint32_t>(row_step * kGatherRowBytes);
  }
};

// How many 8-byte pieces of `k_tile` are loaded for an operand whose k has `units` of them in all:
// those that are left, rounded up to the 32 bytes of k that one wgmma reads.
constexpr int GatherUnitsOf(int units, int k_tile) {
  const int left = (units - k_tile * kGatherUnits + 3) & ~3;
  return left < kGatherUnits ? left : kGatherUnits;
}

// An 8-byte piece of a row: where it lies in global memory, and how many of its bytes are the
// operand's, 8 or 0; the others are zeros in shared memory.
struct GatheredPiece {
  const std::uint8_t* from;
  int bytes;
};

// An iterator that knows the rows of operand A.
template <class Iterator>
concept IteratorOfRows = requires(const Iterator iterator) {
  { iterator.Row(0) } -> std::convertible_to<GatheredRow>;
};

inline namespace WEFT_BACKEND {

// A GatheredOperand is an iterator over the 8-byte pieces of its rows:
//
//     struct Iterator {
//       struct Params;  // made on the host
//       template <class Tile>
//       WEFT_DEVICE Iterator(const Params& p, const Tile& tile);
//       WEFT_DEVICE int Units() const;  // of k, 8 bytes each
//       WEFT_DEVICE int Rows() const;   // rows of the tile that are loaded
//       // The pieces of one unit of k, of share.first_row and every share.row_step-th row after it.
//       // Next is called for each of these rows, in that order.
//       struct Pieces {
//         WEFT_DEVICE GatheredPiece Next(arch::Thread t, const GatheredRow* rows, int row);
//       };
//       WEFT_DEVICE Pieces PiecesOf(const GatherShare& share, std::int32_t unit) const;
//       WEFT_DEVICE GatheredRow Row(int row) const;  // of operand A only
//     };
template <class Iterator>
class GatheredOperand : public OperandTraits {
 public:
  template <class Params, class Tile>
  WEFT_DEVICE GatheredOperand(const Params& p, const Tile& tile) : iterator_(p, tile) {}

  WEFT_DEVICE GatheredRow Row(int row) const
    requires IteratorOfRows<Iterator>
  {
    return iterator_.Row(row);
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t to, int k_tile, const GatheredRow* rows,
                        int thread) const {
    const int units = GatherUnitsOf(iterator_.Units(), k_tile);
    const GatherShare share(thread, units);
    if (share.unit >= units) return;
    auto pieces = iterator_.PiecesOf(share, k_tile * kGatherUnits + share.unit);
    const int end = iterator_.Rows();
    to += share.Place();
    WEFT_UNROLL_4
    for (int row = share.first_row; row < end; row += share.row_step) {
      const GatheredPiece piece = pieces.Next(t, rows, row);
      t.template CpAsync<8>(to, piece.from, piece.bytes);
      to += share.Step();
    }
  }

 private:
  Iterator iterator_;
};

// An MbarRing whose producers copy by cp.async instead of TMA. Operand B is loaded with every k
// tile: Params::b_stays is 0.
template <class Mma>
struct GatherRing : MbarRing<Mma> {
  using Base = MbarRing<Mma>;
  using Params = MbarRingParams;
  static constexpr int kLoadThreads = Base::kProducerThreads;
  static constexpr int ProducerRegisters(int /*start*/) { return 56; }

  // Tiles use the two tables of rows alternately: producer threads that are still loading a tile
  // read one while faster ones already write the next tile's rows to the other.
  struct Stages : Base::Stages {
    GatheredRow rows[2][Mma::kBlockM];
  };

  struct State : Base::State {
    int table = 0;
  };

  WEFT_DEVICE static void Begin(arch::Thread t, Stages& shared, const Params& p) {
    Base::Begin(t, shared, p, kLoadThreads);
  }
  WEFT_DEVICE static bool Copies(arch::Thread, int /*producer*/, const Params&) { return true; }

  // Called by all producer threads: makes the table of a tile's rows, then loads its k tiles.
  // early: not negative in the block's first tile, which waits for earlier kernels of the stream.
  template <GatheredRows OperandA, GathersKTiles OperandB>
  WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared, const Params& p, int /*producer*/,
                                  const OperandA& a, const OperandB& b, const KTileRange& k_tiles,
                                  int early, State& state) {
    const int thread = t.tid() - Mma::kThreads;
    GatheredRow* const rows = shared.rows[state.table];
    WEFT_NO_UNROLL
    for (int i = thread; i < Mma::kBlockM; i += kLoadThreads) t.StoreShared(&rows[i], a.Row(i));
    t.BarSync(kBarrier, kLoadThreads);
    state.table ^= 1;
    if (early >= 0) t.WaitForEarlierGrids();
    WEFT_NO_UNROLL
    for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
      const std::uint32_t full = Base::Free(t, shared, state);
      a.Copy(t, Base::Stage(t, shared, p, state.slot), k_tile, rows, thread);
      b.Copy(t, Base::KTileOfB(t, shared, p, state.slot, k_tile), k_tile, rows, thread);
      t.CpAsyncMbarArrive(full);
      state.Next(p.stages);
    }
  }

  // Called by the consumers when they have waited for a stage: makes what the producers copied
  // visible to wgmma.
  WEFT_DEVICE static void Landed(arch::Thread t) { t.FenceProxyAsync(); }

  // Called last, by all producer threads: none may exit before its copies have landed.
  WEFT_DEVICE static void End(arch::Thread t, Stages&, const Params&, State&) {
    t.CpAsyncCommit();
    t.template CpAsyncWait<0>();
  }

 private:
  // The named barrier of the producer threads. Consumer warpgroups have 1 to 4, one each.
  static constexpr int kBarrier = 9;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
