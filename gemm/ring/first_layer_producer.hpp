// FirstLayerProducer, the producer of an MbarRing (mbar_ring.hpp) for an operand A whose rows may
// begin elsewhere than at multiples of 16 bytes, where TMA cannot begin. A stage holds all of a
// tile's operand A. Operand B is the consumers' business: it lies behind the stages and stays there
// (gemm/kernel/first_layer.hpp).
//
// Where what the rows are cut from begins at such multiples (Params::tma_tiles), one thread has TMA
// load that, and the other three warps of the producer warpgroup make the rows that begin elsewhere
// from it, in shared memory. Otherwise, and where a block has one tile, whose rows arrive sooner
// that way, all producer threads copy by cp.async.
//
// With cp.async a stage's `full` barrier counts the copies when they have landed, so that no
// producer waits for them. wgmma sees what threads have copied only after a proxy fence. The
// consumers execute it when they have waited for the stage; executed by producers, it would also
// wait for the copies that are under way.
#pragma once

#include <concepts>
#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/ring/producer.hpp"
#include "weft/gemm/ring/ring_stages.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {

// Operand A: Copy is a producer thread's share of the cp.async copies of a tile's operand to the
// shared address `to`. With Params::tma_tiles, Load has TMA load TmaBytes() bytes there instead,
// and Shift is the share of one of FirstLayerProducer's kShiftThreads threads, which make the
// other rows from these bytes.
template <class Type>
concept ShiftedOperand = requires(Type op, arch::Thread t, std::uint32_t to) {
  op.Copy(t, to);
  { op.TmaBytes() } -> std::convertible_to<int>;
  op.Load(t, to, to);
  op.Shift(t, to, 0);
};

inline namespace WEFT_BACKEND {

template <class Shape>
struct FirstLayerProducer : CpAsyncProducerTraits {
  using Params = MbarRingParams;
  static constexpr bool kFirstLayer = true;
  static constexpr int kShiftThreads = kThreads - 32;
  // Four consumer warpgroups leave fewer.
  static constexpr int Registers() { return Shape::kGroups == 4 ? 32 : 40; }

  // A phase of `landed` ends when TMA has loaded what the rows are cut from.
  struct Memory {
    std::uint64_t landed[Params::kMostStages];
  };

  WEFT_DEVICE static int Arrivals(arch::Thread t, const Params& p) {
    return ByTma(t, p) ? kShiftThreads / 32 : kThreads;
  }
  WEFT_DEVICE static void Begin(arch::Thread t, Memory& memory, int stage) {
    t.MbarInit(t.SharedAddress(&memory.landed[stage]), 1);
  }

  template <class Stages, ShiftedOperand OperandA, class OperandB>
  WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared, const Params& p, int producer,
                                  const OperandA& a, const OperandB&, const KTileRange&, int early,
                                  State& state) {
    static_assert(OperandA::kShiftThreads == kShiftThreads);
    if (early >= 0) t.WaitForEarlierGrids();
    const std::uint32_t stage = shared.Stage(t, p, state.slot);
    const std::uint32_t full = t.SharedAddress(&shared.full[state.slot]);
    const std::uint32_t landed = t.SharedAddress(&shared.producer.landed[state.slot]);
    if (!ByTma(t, p)) {
      shared.WaitForEmpty(t, state);
      a.Copy(t, stage);
      t.CpAsyncMbarArrive(full);
    } else if (producer == 0) {
      if (t.ElectOne()) {
        shared.WaitForEmpty(t, state);
        t.MbarArriveTx(landed, a.TmaBytes());
        a.Load(t, stage, landed);
      }
      t.SyncWarp();
    } else {
      t.MbarWait(landed, state.parity);
      a.Shift(t, stage, t.tid() - Shape::kThreads - 32);
      t.FenceProxyAsync();
      t.SyncWarp();
      if (t.ElectOne()) t.MbarArrive(full);
    }
    state.Next(p.stages);
  }

  WEFT_DEVICE static void Landed(arch::Thread t, const Params& p) {
    if (!ByTma(t, p)) t.FenceProxyAsync();
  }

 private:
  WEFT_DEVICE static bool ByTma(arch::Thread t, const Params& p) {
    return p.tma_tiles > t.grid_x();
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
