// The pipeline whose stages the threads of a warpgroup fill by cp.async, in pieces of 8 bytes: for operands
// whose rows begin at multiples of 8 bytes, where TMA, which wants multiples of 16, cannot read.
//
// A stage holds 128 bytes of k of each row of operand A and, behind them, of each row of operand B, with the
// swizzle of 128 bytes. The 128 threads that load find the rows of a tile once, write what they found to a
// table in shared memory, and go through it for every k tile. The stage's barrier counts the copies of each of
// them that have landed, so that nobody who loads waits for memory. Tensor cores see what threads have copied
// only after a fence, which those who multiply make when they have waited for the stage.
#pragma once

#include <concepts>
#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/hopper/mbar_ring.hpp"

namespace weft::gemm {

// What an operand remembers of a row while a tile's k tiles are loaded; its meaning is the operand's own.
struct alignas(16) GatheredRow {
  std::int64_t unit;
  std::int32_t h, w;
};

// 8-byte pieces of a k tile, and bytes of a row in a stage.
inline constexpr int kGatherUnits = 16, kGatherRowBytes = 128;

// Loaded by the threads of a warpgroup together: Copy is a thread's share of the copies of a k tile to the shared
// address `to`. rows: what is remembered of operand A's rows. thread: 0 to 127.
template <class Type>
concept GatheredOperand = requires(const Type op, arch::Thread t, std::uint32_t to,
                                   const GatheredRow* rows) { op.Copy(t, to, 0, rows, 0); };
// Operand A: Row(i) is what is remembered of row i of the tile.
template <class Type>
concept GatheredRows = GatheredOperand<Type> && requires(const Type op) {
  { op.Row(0) } -> std::convertible_to<GatheredRow>;
};

// How 128 threads share the rows of a k tile that has `units` pieces of 8 bytes: 4, 8 or 16 neighbours take a
// row, so that they read neighbouring bytes, and each goes from row to row by a multiple of 8 rows, after which the
// swizzle repeats.
struct GatherShare {
  int unit, first_row, row_step;
  constexpr GatherShare(int thread, int units) {
    const int bits = units > 8 ? 4 : units > 4 ? 3 : 2;
    unit = thread & ((1 << bits) - 1);
    first_row = thread >> bits;
    row_step = 128 >> bits;
  }
  // Where the piece of the first row lies in an operand's part of the stage; that of a row `row_step` further on
  // lies row_step * kGatherRowBytes further on.
  constexpr std::uint32_t Place() const {
    return static_cast<std::uint32_t>(first_row * kGatherRowBytes +
                                      (((unit >> 1) ^ (first_row & 7)) << 4) + ((unit & 1) << 3));
  }
  constexpr std::uint32_t Step() const {
    return static_cast<std::uint32_t>(row_step * kGatherRowBytes);
  }
};

inline namespace WEFT_BACKEND {

// As MbarRing, but for what the threads that load do; b_stays is 0.
template <class Mma>
struct GatherRing : MbarRing<Mma> {
  using Base = MbarRing<Mma>;
  using Params = MbarRingParams;
  static constexpr int kLoadThreads = Base::kProducerThreads;
  static constexpr int ProducerRegisters(int /*start*/) { return 56; }

  // Of two tables the threads that are behind read one while the others write the other.
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

  // By all threads that load.
  template <GatheredRows OperandA, GatheredOperand OperandB>
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

  // By those who multiply, when they have waited for a stage.
  WEFT_DEVICE static void Landed(arch::Thread t) { t.FenceProxyAsync(); }

  // By the threads that load, last: none leaves before its copies have come.
  WEFT_DEVICE static void End(arch::Thread t, Stages&, const Params&, State&) {
    t.CpAsyncCommit();
    t.template CpAsyncWait<0>();
  }

 private:
  // Of all threads that load; each warpgroup that multiplies has one of 1 to 4.
  static constexpr int kBarrier = 9;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
