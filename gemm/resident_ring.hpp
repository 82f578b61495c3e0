// The pipeline whose stages the threads of a warpgroup fill by copies of their own, for rows that the
// copy engine of sm_90 cannot bring: it begins at multiples of 16 bytes only.
//
// A stage holds all of operand A of a tile. Operand B lies behind the stages and stays there until a
// tile wants another one; it comes when the ring is empty, so tiles in a row should share it.
//
// A stage's barrier counts the copies as they land, so that nobody who copies waits for them. Tensor
// cores see what threads have copied only after a fence: of those that multiply, when they have waited
// for the stage. By those that copy it would wait for the copies that are under way, too.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/mbar_ring.hpp"

namespace weft::gemm {

// Brought by the threads of a warpgroup together: each starts its share of the CpAsyncs of a tile's
// operand to the shared address `to`.
template <class T>
concept ThreadCopiedOperand = requires(T op, arch::Thread t, std::uint32_t to) {
  op.Copy(t, to);
};
// Key() is equal for tiles that share the operand, and not negative.
template <class T>
concept ResidentOperand = ThreadCopiedOperand<T> && requires(T op) {
  { op.Key() } -> std::convertible_to<std::int64_t>;
};

inline namespace WEFT_BACKEND {

// As MbarRing, but for what the threads that copy do; Params::b_offset counts from the first stage,
// and stage_bytes is a multiple of 16.
template <class M>
struct ResidentRing : MbarRing<M> {
  using Base = MbarRing<M>;
  using Params = MbarRingParams;
  using Stages = typename Base::Stages;
  static constexpr int kCopyThreads = Base::kProducerThreads;
  // Of each, where all threads have `start` at first.
  static constexpr int ProducerRegisters(int start) { return start >= 128 ? 40 : 32; }

  struct Turn : Base::Turn {
    std::int64_t resident = -1;  // the Key of operand B that is there
  };

  WEFT_DEVICE static void Begin(arch::Thread t, Stages& shared, const Params& p) {
    Base::Begin(t, shared, p, kCopyThreads);
  }
  WEFT_DEVICE static bool Copies(arch::Thread, int /*producer*/, const Params&) { return true; }

  // By all threads that copy. early > 0 in the first tile: operand B is fetched before earlier
  // kernels are waited for.
  template <ThreadCopiedOperand A, ResidentOperand B>
  WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared, const Params& p, int /*producer*/,
                                  const A& a, const B& b, const SliceRange&, int early,
                                  Turn& turn) {
    if (early == 0) t.WaitForEarlierGrids();
    if (turn.resident != b.Key()) {
      typename Base::Turn all = turn;
      WEFT_NO_UNROLL
      for (int i = 0; i < p.stages; ++i) {  // until nobody reads the one that is there
        t.MbarWait(t.SharedAddress(&shared.empty[all.slot]), all.parity ^ 1);
        all.Next(p.stages);
      }
      b.Copy(t, Base::Stage(t, shared, p, 0) + p.b_offset);
      turn.resident = b.Key();
    }
    if (early > 0) t.WaitForEarlierGrids();
    t.MbarWait(t.SharedAddress(&shared.empty[turn.slot]), turn.parity ^ 1);
    a.Copy(t, Base::Stage(t, shared, p, turn.slot));
    t.CpAsyncMbarArrive(t.SharedAddress(&shared.full[turn.slot]));  // operand B's too
    turn.Next(p.stages);
  }

  // By the threads that copy, last: none leaves before its copies have come.
  WEFT_DEVICE static void End(arch::Thread t, Stages&, const Params&, Turn&) {
    t.CpAsyncCommit();
    t.template CpAsyncWait<0>();
  }

  // By the threads that multiply: acc = A B. meanwhile(): called while the products run.
  template <class Meanwhile>
  WEFT_DEVICE static void Consume(arch::Thread t, Stages& shared, const Params& p,
                                  const M& mainloop, const SliceRange& slices,
                                  typename M::Accumulators& acc, Turn& turn, bool /*fills*/,
                                  const Meanwhile& meanwhile) {
    Base::AwaitTurn(t, shared, turn);
    t.MbarWait(t.SharedAddress(&shared.full[turn.slot]), turn.parity);
    t.FenceProxyAsync();
    mainloop.Multiply(t, Base::Stage(t, shared, p, turn.slot),
                      Base::Stage(t, shared, p, 0) + p.b_offset, 0, slices, acc, [] {});
    Base::EndTurn(t, shared, turn);
    meanwhile();
    t.template WgmmaWait<0>();
    M::Keep(t, acc);
    Base::Release(t, shared, turn.slot);
    turn.Next(p.stages);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
