// The pipeline whose stages TMA fills: threads of a warpgroup of its own load
// the k tiles, one thread those of operand B, the others together those of A; the other warpgroups
// multiply them.
//
// Each stage has two mbarriers: `full` ends a phase when the bytes of both k tiles have come, `empty`
// when every warp of the tile has multiplied them. The ring goes on from tile to tile, so that the next tile's
// first k tiles arrive during this one's epilogue.
//
// Where what has come is changed before it is multiplied (Mma::kTransforms), the last warps of the copying
// warpgroup, Mma::kTransformWarps of them, do that, and a third mbarrier, `changed`, ends a phase when they have.
// Where three do, one thread copies both operands.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// Which of a k tile's copies a thread starts: number `begin` to `end`, as far as there are so many.
struct CopyShare {
  int begin = 0, end = 1 << 30;
  constexpr int Count(int all) const {
    const int last = all < end ? all : end;
    return last > begin ? last - begin : 0;
  }
  constexpr bool Has(int copy) const { return copy >= begin && copy < end; }
};

// Loaded by TMA, for MbarRing: threads start their shares of the copies of a k tile to
// the shared address `to`, one k tile after the other from 0 or Seek on; they report Bytes(k_tile,
// share) to the mbarrier at `bar`. By default all copies are one thread's.
template <class Type>
concept TmaOperand =
    requires(Type op, arch::Thread t, std::uint32_t to, std::uint32_t bar, CopyShare share) {
      op.Seek(0);
      { op.Bytes(0, share) } -> std::convertible_to<int>;
      op.Copy(t, to, bar, 0, share);
      op.Copy(t, to, bar, 0);
    };
// Prefetch takes the place of Copy, and only asks the L2 for the bytes.
template <class Type>
concept PrefetchedOperand = TmaOperand<Type> && requires(Type op, arch::Thread t, CopyShare share) {
  op.Prefetch(t, 0, share);
};

// How a ring is laid out: made on the host.
struct MbarRingParams {
  static constexpr int kMostStages = 16, kMostRowThreads = 3;
  std::int32_t stages = 0;       // 2 to kMostStages
  std::int32_t stage_bytes = 0;  // a multiple of 1024, as swizzles need
  std::int32_t b_offset = 0;     // where operand B begins, likewise
  std::int32_t b_stride = 0;     // from a k tile of it to the next, likewise
  std::int32_t row_threads = 1;  // that copy operand A, 1 to kMostRowThreads; 0: who copies B does
  std::int32_t thread_copies = 1;  // of a k tile's, each of them; together at least all
  // For k tiles of `copies` of operand A, among at most `most` threads.
  constexpr void ShareCopies(std::int32_t copies, std::int32_t most = kMostRowThreads) {
    thread_copies = most > 0 ? (copies + most - 1) / most : copies;
    row_threads = most > 0 ? (copies + thread_copies - 1) / thread_copies : 0;
  }
  // K tiles of A that are asked for before earlier kernels are waited for. Each keeps TMA
  // busy as long as the copy itself would.
  std::int32_t prefetch = 1;
  // Whether all k tiles of B stay, loaded with a block's first tile: they lie behind the stages, and
  // all tiles of a block have the same columns. Otherwise each k tile lies in its stage.
  std::int32_t b_stays = 0;
  // ResidentRing: where TMA can load operand A, the launch's tiles; otherwise 0.
  std::int32_t tma_tiles = 0;
};

// Of the `rows` that a tile has along one side, those loaded where the product has `all` there: what only
// fills a tile up costs TMA more than what exists. Swizzles repeat after 8.
constexpr std::int64_t LoadedRows(std::int64_t rows, std::int64_t all) {
  const std::int64_t some = 8 * CeilDiv<std::int64_t>(all, 8);
  return some < rows ? some : rows;
}

// What a transform warp remembers: a list of a tile's, and four words that stay.
inline constexpr int kTransformList = 640;
struct alignas(16) TransformMemory {
  std::uint32_t word[4];
  std::uint16_t list[kTransformList];
};

inline namespace WEFT_BACKEND {

// (Not a member that may be empty: nvcc and g++ lay those out differently.)
template <class Mma, bool kTransforms>
struct RingStages {
  alignas(1024) std::uint8_t bytes[Mma::kStageBytes];
  std::uint64_t full[MbarRingParams::kMostStages], empty[MbarRingParams::kMostStages];
  std::uint64_t changed[MbarRingParams::kMostStages];  // on the way to what is multiplied
  std::uint64_t order[4];                              // of warpgroups
};
template <class Mma>
struct RingStages<Mma, true> {
  alignas(1024) std::uint8_t bytes[Mma::kStageBytes];
  std::uint64_t full[MbarRingParams::kMostStages], empty[MbarRingParams::kMostStages];
  std::uint64_t changed[MbarRingParams::kMostStages], order[4];
  TransformMemory transform;
};

template <class Mma>
struct MbarRing : PipelineTraits {
  using Mainloop = Mma;
  using Params = MbarRingParams;
  static constexpr int kProducerThreads = 128;
  static constexpr int ProducerRegisters(int /*start*/) { return 24; }
  static constexpr int kMostStages = Params::kMostStages;
  static constexpr int kRowThreads =
      Params::kMostRowThreads - (Mma::kTransforms ? Mma::kTransformWarps : 0);
  static_assert(kRowThreads >= 0);
  // The first transform warp, by its number among the producers' warps; and a warp's among those that do.
  static constexpr int kFirstTransformWarp = 1 + kRowThreads;
  WEFT_DEVICE static int NumberOfTransformWarp(arch::Thread t) {
    return t.WarpUniform(t.warp()) - Mma::kThreads / 32 - kFirstTransformWarp;
  }

  struct Stages : RingStages<Mma, Mma::kTransforms> {};

  // Warps that multiply a tile: all, or with config.ping_pong those of one group.
  static constexpr int kTileWarps = Mma::kThreads / 32 / Mma::kConsumerGroups;
  // The ping-pong group of a thread that multiplies.
  WEFT_DEVICE static int ConsumerGroupOf(arch::Thread t) {
    if constexpr (Mma::kConsumerGroups == 1) {
      return 0;
    } else {
      return t.WarpUniform(t.warp()) / kTileWarps;
    }
  }

  // Where a thread stands in the ring.
  struct State {
    int slot = 0, parity = 0;
    int tile = 0;  // the parity of tiles that its ping-pong group has multiplied
    WEFT_DEVICE void Next(int stages) {
      if (++slot == stages) {
        slot = 0;
        parity ^= 1;
      }
    }
  };

  // With config.ping_pong, before and behind the start of a tile's products, which the ping-pong groups
  // start in the order of their tiles: a full barrier says of two phases only whether one has passed,
  // so nobody may ask for k tiles before those of the tile before have come.
  WEFT_DEVICE static void WaitForOrder(arch::Thread t, Stages& shared, const State& state) {
    if constexpr (Mma::kConsumerGroups > 1) {
      const int set = ConsumerGroupOf(t);
      t.MbarWait(t.SharedAddress(&shared.order[set]), state.tile ^ (set == 0 ? 1 : 0));
    }
  }
  // Goes on over the k tiles of a tile that others multiply.
  WEFT_DEVICE static void SkipTile(arch::Thread t, Stages& shared, const Params& p, int k_tiles,
                                   [[maybe_unused]] bool transforms, State& state) {
    WEFT_NO_UNROLL
    for (int i = 0; i < k_tiles; ++i) {
      t.MbarPassed(t.SharedAddress(&shared.full[state.slot]));
      if constexpr (Mma::kTransforms) {
        if (transforms) t.MbarPassed(t.SharedAddress(&shared.changed[state.slot]));
      }
      state.Next(p.stages);
    }
  }
  WEFT_DEVICE static void SignalOrder(arch::Thread t, Stages& shared, State& state) {
    if constexpr (Mma::kConsumerGroups > 1) {
      const int set = ConsumerGroupOf(t);
      t.SyncWarp();
      if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&shared.order[1 - set]));
      state.tile ^= 1;
    }
  }

  // By all threads of the block, first.
  WEFT_DEVICE static void Begin(arch::Thread t, Stages& shared, const Params& p) {
    Begin(t, shared, p, 1 + p.row_threads);
  }
  // arrivals: that end a phase of `full`.
  WEFT_DEVICE static void Begin(arch::Thread t, Stages& shared, const Params& p, int arrivals) {
    // A warp each: one for all of them, or the threads of one (whom ptxas lets go one by one), would
    // take as long as a small tile's products.
    WEFT_NO_UNROLL
    for (int i = t.WarpUniform(t.warp()); i < p.stages;
         i += (Mma::kThreads + kProducerThreads) / 32) {
      if (t.ElectOne()) {
        t.MbarInit(t.SharedAddress(&shared.full[i]), arrivals);
        t.MbarInit(t.SharedAddress(&shared.empty[i]), kTileWarps);
        if constexpr (Mma::kConsumerGroups > 1) {
          if (i < Mma::kConsumerGroups) t.MbarInit(t.SharedAddress(&shared.order[i]), kTileWarps);
        }
        if constexpr (Mma::kTransforms || Mma::kResident) {
          t.MbarInit(t.SharedAddress(&shared.changed[i]), Mma::kTransformWarps);
        }
        t.FenceMbarInit();
      }
    }
    t.SyncThreads();
  }

  static_assert(32 * (1 + Params::kMostRowThreads) <= kProducerThreads);
  // Whether a thread copies, by its warp's number among the producers: one of each warp, of the first
  // one operand B. Elected, since ptxas then knows that it is alone and need not make sure of it at
  // every copy, which took as long as some of the copies.
  WEFT_DEVICE static bool Copies(arch::Thread t, int producer, const Params& p) {
    return producer <= p.row_threads && t.ElectOne();
  }

  // By the threads that copy A, before the block's first tile and before earlier kernels are waited for:
  // asks the L2 for the source's first k tiles. Nobody reads them before the wait.
  template <PrefetchedOperand OperandA>
  WEFT_DEVICE static void Prefetch(arch::Thread t, const Params& p, int producer, OperandA& a,
                                   const KTileRange& k_tiles) {
    if constexpr (Mma::kClusterSplit > 1) a.Seek(k_tiles.begin);
    const CopyShare share = {(producer - 1) * p.thread_copies, producer * p.thread_copies};
    const int end =
        k_tiles.begin + p.prefetch < k_tiles.end ? k_tiles.begin + p.prefetch : k_tiles.end;
    WEFT_NO_UNROLL
    for (int k_tile = k_tiles.begin; k_tile < end; ++k_tile) a.Prefetch(t, k_tile, share);
  }

  // By the threads that copy. early >= 0 in the block's first tile, negative afterwards: that many
  // k tiles of operand B (at most the ring's stages) are fetched before earlier kernels are waited
  // for. producer: the thread's warp's number among the producers.
  template <TmaOperand OperandA, TmaOperand OperandB>
  WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared, const Params& p, int producer,
                                  OperandA& a, OperandB& b, const KTileRange& k_tiles, int early,
                                  State& state) {
    if constexpr (kRowThreads == 0) {
      if constexpr (Mma::kClusterSplit > 1) a.Seek(k_tiles.begin), b.Seek(k_tiles.begin);
      if (early >= 0) t.WaitForEarlierGrids();
      WEFT_NO_UNROLL
      for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
        const std::uint32_t full = Free(t, shared, state);
        t.MbarArriveTx(full, a.Bytes(k_tile) + b.Bytes(k_tile));
        b.Copy(t, KTileOfB(t, shared, p, state.slot, k_tile), full, k_tile);
        a.Copy(t, Stage(t, shared, p, state.slot), full, k_tile);
        state.Next(p.stages);
      }
    } else if (producer == 0) {
      if constexpr (Mma::kClusterSplit > 1) b.Seek(k_tiles.begin);
      const bool loads = early >= 0 || !p.b_stays;
      WEFT_NO_UNROLL
      for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
        if (k_tile - k_tiles.begin == early) t.WaitForEarlierGrids();
        const std::uint32_t full = Free(t, shared, state);
        if (loads) {
          t.MbarArriveTx(full, b.Bytes(k_tile));
          b.Copy(t, KTileOfB(t, shared, p, state.slot, k_tile), full, k_tile);
        } else {
          t.MbarArrive(full);
        }
        state.Next(p.stages);
      }
    } else {
      if constexpr (Mma::kClusterSplit > 1) a.Seek(k_tiles.begin);
      if (early >= 0) t.WaitForEarlierGrids();
      const CopyShare share = {(producer - 1) * p.thread_copies, producer * p.thread_copies};
      WEFT_NO_UNROLL
      for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
        const std::uint32_t full = Free(t, shared, state);
        const int bytes = a.Bytes(k_tile, share);
        // Who copies nothing arrives, too: the ring would leave it behind, to lose count of phases.
        if (bytes == 0) {
          t.MbarArrive(full);
        } else {
          t.MbarArriveTx(full, bytes);
          a.Copy(t, Stage(t, shared, p, state.slot), full, k_tile, share);
        }
        state.Next(p.stages);
      }
    }
  }

  // By a transform warp: transform.Prepare(t, k_tile) while a k tile is on its way, transform.Transform(t,
  // stage) when it has come to the shared address `stage`, unless Prepare has said that there is nothing
  // to transform. Who has nothing to transform waits, too: the ring would be left behind, as by those
  // that copy.
  template <class StageTransform>
  WEFT_DEVICE static void Transform(arch::Thread t, Stages& shared, const Params& p,
                                    const KTileRange& k_tiles, State& state,
                                    StageTransform& transform) {
    WEFT_NO_UNROLL
    for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
      const bool transforms = transform.Prepare(t, k_tile);
      t.MbarWait(t.SharedAddress(&shared.full[state.slot]), state.parity);
      if (transforms) {
        transform.Transform(t, Stage(t, shared, p, state.slot));
        t.FenceProxyAsync();
      }
      t.SyncWarp();
      if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&shared.changed[state.slot]));
      state.Next(p.stages);
    }
  }

  // By the threads that multiply: acc = A B over the k tiles. transforms: whether Transform is called, where
  // Mma::kTransforms. meanwhile(): called while the last products run.
  template <class Meanwhile>
  WEFT_DEVICE static void Consume(arch::Thread t, Stages& shared, const Params& p,
                                  const Mma& mainloop, const KTileRange& k_tiles,
                                  typename Mma::Accumulators& acc, State& state,
                                  [[maybe_unused]] bool transforms, const Meanwhile& meanwhile) {
    int previous = -1;  // the stage whose products may be in flight
    WaitForOrder(t, shared, state);
    WEFT_NO_UNROLL
    for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
      const std::uint32_t stage = Stage(t, shared, p, state.slot);
      t.MbarWait(t.SharedAddress(&shared.full[state.slot]), state.parity);
      if constexpr (Mma::kTransforms) {
        if (transforms) t.MbarWait(t.SharedAddress(&shared.changed[state.slot]), state.parity);
      }
      Mma::Pipeline::Landed(t);
      mainloop.Multiply(t, stage, KTileOfB(t, shared, p, state.slot, k_tile), k_tile, k_tiles, acc,
                        [&] {
                          if (previous >= 0) Release(t, shared, previous);
                        });
      previous = state.slot;
      state.Next(p.stages);
    }
    SignalOrder(t, shared, state);
    meanwhile();
    t.template WgmmaWait<0>();
    Mma::Keep(t, acc);
    if (Mma::kClusterSplit > 1 && previous < 0) {
      Mma::Clear(acc);
    } else {
      Release(t, shared, previous);
    }
  }

  // By those who multiply, when they have waited for a stage: what TMA has written they see as it is.
  WEFT_DEVICE static void Landed(arch::Thread) {}

  // By the threads that copy, last.
  WEFT_DEVICE static void End(arch::Thread, Stages&, const Params&, State&) {}

 protected:
  // Waits until the stage is free; its `full`.
  WEFT_DEVICE static std::uint32_t Free(arch::Thread t, Stages& shared, const State& state) {
    t.MbarWait(t.SharedAddress(&shared.empty[state.slot]), state.parity ^ 1);
    return t.SharedAddress(&shared.full[state.slot]);
  }
  WEFT_DEVICE static std::uint32_t Stage(arch::Thread t, Stages& shared, const Params& p,
                                         int slot) {
    return t.SharedAddress(shared.bytes) + static_cast<std::uint32_t>(slot * p.stage_bytes);
  }
  WEFT_DEVICE static std::uint32_t KTileOfB(arch::Thread t, Stages& shared, const Params& p,
                                            int slot, int k_tile) {
    return t.SharedAddress(shared.bytes) +
           static_cast<std::uint32_t>(p.b_offset + (p.b_stays ? k_tile : slot) * p.b_stride);
  }
  WEFT_DEVICE static void Release(arch::Thread t, Stages& shared, int slot) {
    t.SyncWarp();
    if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&shared.empty[slot]));
  }
};

// A base of what transforms all k tiles of all tiles of mainloop Mma, whatever they are, and remembers
// nothing.
template <class Mma>
class TransformsEveryKTile {
 public:
  template <class Params>
  WEFT_DEVICE static bool HasWork(const Params&) {
    return true;
  }
  template <class Tile>
  WEFT_DEVICE void Aim(arch::Thread, const Tile&, int) {}
  WEFT_DEVICE bool Prepare(arch::Thread, int) { return true; }

 protected:
  WEFT_DEVICE explicit TransformsEveryKTile(arch::Thread t)
      : warp_(Mma::Pipeline::NumberOfTransformWarp(t)) {}

  int warp_;  // this thread's, of Mma::kTransformWarps
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
