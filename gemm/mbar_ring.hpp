// The pipeline whose stages the copy engine of sm_90 fills: one thread of a warpgroup of its own
// brings the slices of both operands, the others multiply them.
//
// Each stage has two mbarriers: `full` ends a phase when the bytes of a slice have come, `empty`
// when every warp has multiplied them. The ring goes on from tile to tile, so that the next tile's
// first slices arrive during this one's epilogue.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {

// Brought by the copy engine, for MbarRing: one thread starts the copies of a slice to the shared
// address `to`; they report Bytes(slice) to the mbarrier at `bar`.
template <class T>
concept CopiedOperand = requires(T op, arch::Thread t, std::uint32_t to, std::uint32_t bar) {
  { op.Bytes(0) } -> std::convertible_to<int>;
  op.Copy(t, to, bar, 0);
};

// How a ring is laid out: made on the host.
struct MbarRingParams {
  static constexpr int kMostStages = 16;
  std::int32_t stages = 0;       // 2 to kMostStages
  std::int32_t stage_bytes = 0;  // a multiple of 1024, as swizzles need
  std::int32_t b_offset = 0;     // where operand B begins, likewise
  std::int32_t b_stride = 0;     // from a slice of it to the next, likewise
  // Whether all slices of B stay, brought with a block's first tile: they lie behind the stages, and
  // all tiles of a block have the same columns. Otherwise each slice lies in its stage.
  std::int32_t b_stays = 0;
};

inline namespace WEFT_BACKEND {

template <class M>
struct MbarRing {
  using Mainloop = M;
  using Params = MbarRingParams;
  static constexpr int kProducerThreads = 128;
  static constexpr int kCopyThreads = 1;         // of them, that copy
  static constexpr int kProducerRegisters = 24;  // of each
  static constexpr int kMostStages = Params::kMostStages;

  struct Stages {
    alignas(1024) std::uint8_t bytes[M::kStageBytes];
    std::uint64_t full[kMostStages], empty[kMostStages];
  };

  // Where a thread stands in the ring.
  struct Turn {
    int slot = 0, parity = 0;
    WEFT_DEVICE void Next(int stages) {
      if (++slot == stages) {
        slot = 0;
        parity ^= 1;
      }
    }
  };

  // By all threads of the block, first. arrivals: that end a phase of `full`.
  WEFT_DEVICE static void Begin(arch::Thread t, Stages& shared, int arrivals = 1) {
    if (t.tid() == 0) {
      for (int i = 0; i < kMostStages; ++i) {
        t.MbarInit(t.SharedAddress(&shared.full[i]), arrivals);
        t.MbarInit(t.SharedAddress(&shared.empty[i]), M::kThreads / 32);
      }
      t.FenceMbarInit();
    }
    t.SyncThreads();
  }

  // By the one thread that copies. early >= 0 in the first tile, negative afterwards: that many
  // slices of operand B (at most the ring's stages) are fetched before earlier kernels are waited
  // for.
  template <CopiedOperand A, CopiedOperand B>
  WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared, const Params& p, A& a, B& b,
                                  int slices, int early, Turn& turn) {
    const bool brings_b = early >= 0 || !p.b_stays;
    if (early >= 0) {
      for (int slice = 0; slice < early; ++slice) {
        const std::uint32_t full = t.SharedAddress(&shared.full[slice]);
        t.MbarArriveTx(full, a.Bytes(slice) + b.Bytes(slice));
        b.Copy(t, SliceOfB(t, shared, p, slice, slice), full, slice);
      }
      t.WaitForEarlierGrids();
    }
    WEFT_NO_UNROLL
    for (int slice = 0; slice < slices; ++slice) {
      const std::uint32_t full = t.SharedAddress(&shared.full[turn.slot]);
      const std::uint32_t stage = Stage(t, shared, p, turn.slot);
      if (slice >= early) {
        t.MbarWait(t.SharedAddress(&shared.empty[turn.slot]), turn.parity ^ 1);
        t.MbarArriveTx(full, a.Bytes(slice) + (brings_b ? b.Bytes(slice) : 0));
        if (brings_b) b.Copy(t, SliceOfB(t, shared, p, turn.slot, slice), full, slice);
      }
      a.Copy(t, stage, full, slice);
      turn.Next(p.stages);
    }
  }

  // By the threads that multiply: acc = A B over `slices` >= 1 slices.
  WEFT_DEVICE static void Consume(arch::Thread t, Stages& shared, const Params& p,
                                  const M& mainloop, int slices, typename M::Accumulators& acc,
                                  Turn& turn) {
    int previous = -1;  // the stage whose products may be in flight
    WEFT_NO_UNROLL
    for (int slice = 0; slice < slices; ++slice) {
      const std::uint32_t stage = Stage(t, shared, p, turn.slot);
      t.MbarWait(t.SharedAddress(&shared.full[turn.slot]), turn.parity);
      mainloop.Multiply(t, stage, SliceOfB(t, shared, p, turn.slot, slice), slice, slices, acc);
      t.template WgmmaWait<1>();
      if (previous >= 0) Release(t, shared, previous);
      previous = turn.slot;
      turn.Next(p.stages);
    }
    t.template WgmmaWait<0>();
    M::Keep(t, acc);
    Release(t, shared, previous);
  }

  // By the threads that copy, last.
  WEFT_DEVICE static void End(arch::Thread, Stages&, const Params&, Turn&) {}

 protected:
  WEFT_DEVICE static std::uint32_t Stage(arch::Thread t, Stages& shared, const Params& p,
                                         int slot) {
    return t.SharedAddress(shared.bytes) + static_cast<std::uint32_t>(slot * p.stage_bytes);
  }
  WEFT_DEVICE static std::uint32_t SliceOfB(arch::Thread t, Stages& shared, const Params& p,
                                            int slot, int slice) {
    return t.SharedAddress(shared.bytes) +
           static_cast<std::uint32_t>(p.b_offset + (p.b_stays ? slice : slot) * p.b_stride);
  }
  WEFT_DEVICE static void Release(arch::Thread t, Stages& shared, int slot) {
    t.SyncWarp();
    if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&shared.empty[slot]));
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
