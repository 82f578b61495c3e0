// ResidentRing, the pipeline of an operand A whose rows may begin elsewhere than at multiples of 16
// bytes, where TMA cannot begin, while operand B stays in shared memory from tile to tile.
//
// Where what the rows are cut from begins at such multiples (Params::tma_tiles), one thread has TMA
// load that, and the other three warps of the producer warpgroup make the rows that begin elsewhere
// from it, in shared memory. Otherwise, and where a block has one tile, whose rows arrive sooner
// that way, all producer threads copy by cp.async.
//
// A stage holds all of operand A of a tile. Operand B lies behind the stages and stays there until
// a tile needs another one; the consumers store it, so a block's successive tiles should share it.
//
// With cp.async a stage's `full` barrier counts the copies when they have landed, so that no
// producer waits for them. wgmma sees what threads have copied only after a proxy fence. The
// consumers execute it when they have waited for the stage; executed by producers, it would also
// wait for the copies that are under way.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/hopper/mbar_ring.hpp"

namespace weft::gemm {

// Operand A: Copy is a producer thread's share of the cp.async copies of a tile's operand to the
// shared address `to`. With Params::tma_tiles, Load has TMA load TmaBytes() bytes there instead,
// and Shift is the share of one of ResidentRing's kShiftThreads threads, which make the other rows
// from these bytes.
template <class Type>
concept ShiftedOperand = requires(Type op, arch::Thread t, std::uint32_t to) {
  op.Copy(t, to);
  { op.TmaBytes() } -> std::convertible_to<int>;
  op.Load(t, to, to);
  op.Shift(t, to, 0);
};
// Operand B: Key() is equal for tiles that share the operand, and not negative. Store is a consumer
// thread's share of storing the operand to the shared address `to`.
template <class Type>
concept ResidentOperand = requires(Type op, arch::Thread t, std::uint32_t to) {
  { op.Key() } -> std::convertible_to<std::int64_t>;
  op.Store(t, to);
};

inline namespace WEFT_BACKEND {

// An MbarRing with other producers and a resident operand B. Params::b_offset counts from the first
// stage, and stage_bytes is a multiple of 16.
template <class Mma>
struct ResidentRing : MbarRing<Mma> {
  using Base = MbarRing<Mma>;
  using Params = MbarRingParams;
  using Stages = typename Base::Stages;
  static constexpr int kCopyThreads = Base::kProducerThreads, kShiftThreads = kCopyThreads - 32;
  // Registers of a producer thread; four consumer warpgroups leave fewer.
  static constexpr int ProducerRegisters(int /*start*/) { return Mma::kGroups == 4 ? 32 : 40; }
  static_assert(
      Mma::kConsumerGroups == 1,
      "weft: config.ping_pong of wgmma_sm90 over NCxHWx<4> is false: warpgroups go through a tile "
      "one after the other already");

  struct State : Base::State {
    std::int64_t resident = -1;  // the Key of the operand B in shared memory
    bool started = false;        // whether its warpgroup has multiplied a tile
  };

  WEFT_DEVICE static void Begin(arch::Thread t, Stages& shared, const Params& p) {
    const int group = t.WarpUniform(t.warp()) / 4;
    if (group < Mma::kGroups - 1 && t.warp() % 4 == 0 && t.ElectOne()) {
      t.MbarInit(t.SharedAddress(&shared.order[group]), 4);
      t.FenceMbarInit();
    }
    Base::Begin(t, shared, p, ByTma(t, p) ? kShiftThreads / 32 : kCopyThreads);
  }
  WEFT_DEVICE static bool Copies(arch::Thread, int /*producer*/, const Params&) { return true; }

  WEFT_DEVICE static bool ByTma(arch::Thread t, const Params& p) {
    return p.tma_tiles > t.grid_x();
  }

  // Called by all producer threads: loads a tile's operand A.
  template <ShiftedOperand OperandA, class OperandB>
  WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared, const Params& p, int producer,
                                  const OperandA& a, const OperandB&, const KTileRange&, int early,
                                  State& state) {
    static_assert(OperandA::kShiftThreads == kShiftThreads);
    if (early >= 0) t.WaitForEarlierGrids();
    const std::uint32_t stage = Base::Stage(t, shared, p, state.slot);
    const std::uint32_t full = t.SharedAddress(&shared.full[state.slot]);
    const std::uint32_t landed = t.SharedAddress(&shared.changed[state.slot]);
    if (!ByTma(t, p)) {
      Base::Free(t, shared, state);
      a.Copy(t, stage);
      t.CpAsyncMbarArrive(full);
    } else if (producer == 0) {
      if (t.ElectOne()) {
        Base::Free(t, shared, state);
        t.MbarArriveTx(landed, a.TmaBytes());
        a.Load(t, stage, landed);
      }
      t.SyncWarp();
    } else {
      t.MbarWait(landed, state.parity);
      a.Shift(t, stage, t.tid() - Mma::kThreads - 32);
      t.FenceProxyAsync();
      t.SyncWarp();
      if (t.ElectOne()) t.MbarArrive(full);
    }
    state.Next(p.stages);
  }

  // Called last, by all producer threads: none may exit before its copies have landed.
  WEFT_DEVICE static void End(arch::Thread t, Stages&, const Params&, State&) {
    t.CpAsyncCommit();
    t.template CpAsyncWait<0>();
  }

  // Called by the consumers before a tile: stores its operand B unless that is in shared memory
  // already.
  template <ResidentOperand OperandB>
  WEFT_DEVICE static void Load(arch::Thread t, Stages& shared, const Params& p, const OperandB& b,
                               State& state) {
    if (state.resident == b.Key()) return;
    if (state.resident >= 0)
      t.BarSync(kBarrier, Mma::kThreads);  // until nobody reads the previous one
    state.resident = b.Key();
    b.Store(t, Base::Stage(t, shared, p, 0) + p.b_offset);
    t.FenceProxyAsync();
    t.BarSync(kBarrier, Mma::kThreads);
  }

  // Called by the consumers: acc = A B of a tile. meanwhile(): called while the products run.
  //
  // In its first tile a warpgroup waits until the one before it has finished its products, so that
  // from then on one's epilogue overlaps with another's products; otherwise all would multiply at
  // the same time, and then all store.
  template <class Meanwhile>
  WEFT_DEVICE static void Consume(arch::Thread t, Stages& shared, const Params& p,
                                  const Mma& mainloop, const KTileRange& k_tiles,
                                  typename Mma::Accumulators& acc, State& state,
                                  bool /*transforms*/, const Meanwhile& meanwhile) {
    const int group = t.WarpUniform(t.warp()) / 4;
    t.MbarWait(t.SharedAddress(&shared.full[state.slot]), state.parity);
    if (!state.started && group > 0) t.MbarWait(t.SharedAddress(&shared.order[group - 1]), 0);
    if (!ByTma(t, p)) t.FenceProxyAsync();
    mainloop.Multiply(t, Base::Stage(t, shared, p, state.slot),
                      Base::Stage(t, shared, p, 0) + p.b_offset, 0, k_tiles, acc, [] {});
    meanwhile();
    t.template WgmmaWait<0>();
    Mma::Keep(t, acc);
    Base::Release(t, shared, state.slot);
    if (!state.started && group < Mma::kGroups - 1) {
      if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&shared.order[group]));
    }
    state.started = true;
    state.Next(p.stages);
  }

 private:
  // The named barrier of all consumers. Each warpgroup also has its own, one of 1 to 4.
  static constexpr int kBarrier = 8;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
