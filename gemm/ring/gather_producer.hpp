// GatherProducer, the producer of an MbarRing (mbar_ring.hpp) of operands whose rows begin at
// multiples of 8 bytes. TMA, which wants multiples of 16, cannot load them: the 128 threads of the
// producer warpgroup fill each stage by cp.async. Operand B is loaded with every k tile:
// Params::b_stays is 0.
//
// The producer threads find the rows of a tile once, store what they found in a table in shared
// memory, and go through the table for every k tile. The stage's `full` mbarrier counts each
// thread's copies when they have landed, so that no producer waits for memory. wgmma sees what
// threads have copied only after a proxy fence, which the consumers execute when they have waited
// for the stage.
#pragma once

#include <concepts>
#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/ring/producer.hpp"
#include "weft/gemm/ring/ring_stages.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {

// What an operand remembers of one row while it loads a tile's k tiles. Each operand type gives the
// fields their meaning.
struct alignas(16) GatheredRow {
  std::int64_t unit;
  std::int32_t h, w;
};

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

inline namespace WEFT_BACKEND {

template <class Shape>
struct GatherProducer : CpAsyncProducerTraits {
  using Params = MbarRingParams;
  static constexpr int Registers() { return 56; }

  // Tiles use the two tables of rows alternately: producer threads that are still loading a tile
  // read one while faster ones already write the next tile's rows to the other.
  struct Memory {
    GatheredRow rows[2][Shape::kBlockM];
  };
  struct State : RingState {
    int table = 0;
  };

  template <class Stages, GatheredRows OperandA, GathersKTiles OperandB>
  WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared, const Params& p, int /*producer*/,
                                  const OperandA& a, const OperandB& b, const KTileRange& k_tiles,
                                  int early, State& state) {
    const int thread = t.tid() - Shape::kThreads;
    GatheredRow* const rows = shared.producer.rows[state.table];
    WEFT_NO_UNROLL
    for (int i = thread; i < Shape::kBlockM; i += kThreads) t.StoreShared(&rows[i], a.Row(i));
    t.BarSync(kBarrier, kThreads);
    state.table ^= 1;
    if (early >= 0) t.WaitForEarlierGrids();
    WEFT_NO_UNROLL
    for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
      const std::uint32_t full = shared.WaitForEmpty(t, state);
      a.Copy(t, shared.Stage(t, p, state.slot), k_tile, rows, thread);
      b.Copy(t, shared.KTileOfB(t, p, state.slot, k_tile), k_tile, rows, thread);
      t.CpAsyncMbarArrive(full);
      state.Next(p.stages);
    }
  }

  WEFT_DEVICE static void Landed(arch::Thread t, const Params&) { t.FenceProxyAsync(); }

 private:
  // The named barrier of the producer threads. Consumer warpgroups have 1 to 4, one each.
  static constexpr int kBarrier = 9;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
