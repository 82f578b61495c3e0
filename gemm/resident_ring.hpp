// The pipeline whose stages the threads of a warpgroup fill, for rows that begin elsewhere than at
// multiples of 16 bytes, where the copy engine of sm_90 cannot begin.
//
// Where what the rows are cut from begins there (Params::engine_tiles), one thread has the engine bring
// that, and the other three warps make the rows that begin elsewhere of it, in shared memory. Otherwise, and
// where a block has one tile, whose rows come sooner that way, all of them copy.
//
// A stage holds all of operand A of a tile. Operand B lies behind the stages and stays there until a
// tile wants another one; it is brought by the threads that multiply, so tiles in a row should share it.
//
// Of copies by threads a stage's barrier counts those that have landed, so that nobody who copies waits
// for them. Tensor cores see what threads have copied only after a fence: of those that multiply, when
// they have waited for the stage. By those that copy it would wait for the copies that are under way, too.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/mbar_ring.hpp"

namespace weft::gemm {

// Brought by the threads of a warpgroup together: Copy is each one's share of the CpAsyncs of a tile's operand
// to the shared address `to`. Or, with Params::engine_tiles: Load has the engine bring EngineBytes() there, and
// Shift is the share of a thread, of ResidentRing's kShiftThreads, that make the other rows of it.
template <class Type>
concept ShiftedOperand = requires(Type op, arch::Thread t, std::uint32_t to) {
  op.Copy(t, to);
  { op.EngineBytes() } -> std::convertible_to<int>;
  op.Load(t, to, to);
  op.Shift(t, to, 0);
};
// Key() is equal for tiles that share the operand, and not negative. Store is a thread's share of it, of
// all that multiply.
template <class Type>
concept ResidentOperand = requires(Type op, arch::Thread t, std::uint32_t to) {
  { op.Key() } -> std::convertible_to<std::int64_t>;
  op.Store(t, to);
};

inline namespace WEFT_BACKEND {

// As MbarRing, but for what the threads that copy do; Params::b_offset counts from the first stage,
// and stage_bytes is a multiple of 16.
template <class Mma>
struct ResidentRing : MbarRing<Mma> {
  using Base = MbarRing<Mma>;
  using Params = MbarRingParams;
  using Stages = typename Base::Stages;
  static constexpr int kCopyThreads = Base::kProducerThreads, kShiftThreads = kCopyThreads - 32;
  // Of each; four warpgroups that multiply leave fewer.
  static constexpr int ProducerRegisters(int /*start*/) { return Mma::kGroups == 4 ? 32 : 40; }
  static_assert(
      Mma::kTurns == 1,
      "weft: config.turns of wgmma_sm90 over NCxHWx<4> is 1: warpgroups go through a tile "
      "one after the other already");

  struct Turn : Base::Turn {
    std::int64_t resident = -1;  // the Key of operand B that is there
    bool started = false;        // whether its warpgroup has multiplied a tile
  };

  WEFT_DEVICE static void Begin(arch::Thread t, Stages& shared, const Params& p) {
    const int group = t.WarpUniform(t.warp()) / 4;
    if (group < Mma::kGroups - 1 && t.warp() % 4 == 0 && t.ElectOne()) {
      t.MbarInit(t.SharedAddress(&shared.order[group]), 4);
      t.FenceMbarInit();
    }
    Base::Begin(t, shared, p, ByEngine(t, p) ? kShiftThreads / 32 : kCopyThreads);
  }
  WEFT_DEVICE static bool Copies(arch::Thread, int /*producer*/, const Params&) { return true; }

  WEFT_DEVICE static bool ByEngine(arch::Thread t, const Params& p) {
    return p.engine_tiles > t.grid_x();
  }

  // By all threads that copy.
  template <ShiftedOperand OperandA, class OperandB>
  WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared, const Params& p, int producer,
                                  const OperandA& a, const OperandB&, const SliceRange&, int early,
                                  Turn& turn) {
    static_assert(OperandA::kShiftThreads == kShiftThreads);
    if (early >= 0) t.WaitForEarlierGrids();
    const std::uint32_t stage = Base::Stage(t, shared, p, turn.slot);
    const std::uint32_t full = t.SharedAddress(&shared.full[turn.slot]);
    const std::uint32_t landed = t.SharedAddress(&shared.changed[turn.slot]);
    if (!ByEngine(t, p)) {
      Base::Free(t, shared, turn);
      a.Copy(t, stage);
      t.CpAsyncMbarArrive(full);
    } else if (producer == 0) {
      if (t.ElectOne()) {
        Base::Free(t, shared, turn);
        t.MbarArriveTx(landed, a.EngineBytes());
        a.Load(t, stage, landed);
      }
      t.SyncWarp();
    } else {
      t.MbarWait(landed, turn.parity);
      a.Shift(t, stage, t.tid() - Mma::kThreads - 32);
      t.FenceProxyAsync();
      t.SyncWarp();
      if (t.ElectOne()) t.MbarArrive(full);
    }
    turn.Next(p.stages);
  }

  // By the threads that copy, last: none leaves before its copies have come.
  WEFT_DEVICE static void End(arch::Thread t, Stages&, const Params&, Turn&) {
    t.CpAsyncCommit();
    t.template CpAsyncWait<0>();
  }

  // By the threads that multiply, before a tile: sees to it that its operand B is there.
  template <ResidentOperand OperandB>
  WEFT_DEVICE static void Bring(arch::Thread t, Stages& shared, const Params& p, const OperandB& b,
                                Turn& turn) {
    if (turn.resident == b.Key()) return;
    if (turn.resident >= 0)
      t.BarSync(kBarrier, Mma::kThreads);  // until nobody reads the one that is
    turn.resident = b.Key();
    b.Store(t, Base::Stage(t, shared, p, 0) + p.b_offset);
    t.FenceProxyAsync();
    t.BarSync(kBarrier, Mma::kThreads);
  }

  // By the threads that multiply: acc = A B. meanwhile(): called while the products run.
  //
  // In its first tile a warpgroup lets the one before it end its products first, so that from then on
  // one's epilogue takes the time of another's products; else all would multiply, then all store.
  template <class Meanwhile>
  WEFT_DEVICE static void Consume(arch::Thread t, Stages& shared, const Params& p,
                                  const Mma& mainloop, const SliceRange& slices,
                                  typename Mma::Accumulators& acc, Turn& turn, bool /*fills*/,
                                  const Meanwhile& meanwhile) {
    const int group = t.WarpUniform(t.warp()) / 4;
    t.MbarWait(t.SharedAddress(&shared.full[turn.slot]), turn.parity);
    if (!turn.started && group > 0) t.MbarWait(t.SharedAddress(&shared.order[group - 1]), 0);
    if (!ByEngine(t, p)) t.FenceProxyAsync();
    mainloop.Multiply(t, Base::Stage(t, shared, p, turn.slot),
                      Base::Stage(t, shared, p, 0) + p.b_offset, 0, slices, acc, [] {});
    meanwhile();
    t.template WgmmaWait<0>();
    Mma::Keep(t, acc);
    Base::Release(t, shared, turn.slot);
    if (!turn.started && group < Mma::kGroups - 1) {
      if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&shared.order[group]));
    }
    turn.started = true;
    turn.Next(p.stages);
  }

 private:
  // Of all threads that multiply; each warpgroup has one of 1 to 4.
  static constexpr int kBarrier = 8;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
