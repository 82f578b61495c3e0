// MbarRing, the pipeline whose stages TMA fills. Up to four warps of the block's last warpgroup are
// producers: one thread of the first one loads the k tiles of operand B, one thread of each of the
// others a share of those of operand A. The other warpgroups, the consumers, multiply them.
//
// Each stage has two mbarriers: a phase of `full` ends when the bytes of A's and B's k tile have
// landed, a phase of `empty` when every consumer warp of the tile has multiplied them. The ring
// goes on from tile to tile, so that the next tile's first k tiles are loaded during this one's
// epilogue.
//
// Where a stage transform rewrites what TMA has loaded before it is multiplied (Mma::kTransforms),
// the last Mma::kTransformWarps warps of the producer warpgroup are transform warps, and a third
// mbarrier, `changed`, ends a phase when they are done. With three transform warps one thread loads
// both operands.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/hopper/ping_pong_order.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// Which of a k tile's TMA copies a thread starts: those numbered from `begin` to below `end`, as
// far as there are so many.
struct CopyShare {
  int begin = 0, end = 1 << 30;
  constexpr int Count(int all) const {
    const int last = all < end ? all : end;
    return last > begin ? last - begin : 0;
  }
  constexpr bool Has(int copy) const { return copy >= begin && copy < end; }
};

// An operand that MbarRing loads by TMA: each of its producer threads starts its share of the
// copies of a k tile to the shared address `to`, k tile after k tile from 0 or from Seek's on. The
// copies report Bytes(k_tile, share) bytes to the mbarrier at `bar`. Without a share, one thread
// starts all of them. Prefetch has TMA load what Copy would, but only into the L2. TmaOperand
// (tma_operand.hpp) is one.
template <class Type>
concept LoadedByTma =
    requires(Type op, arch::Thread t, std::uint32_t to, std::uint32_t bar, CopyShare share) {
      op.Seek(0);
      { op.Bytes(0, share) } -> std::convertible_to<int>;
      op.Copy(t, to, bar, 0, share);
      op.Copy(t, to, bar, 0);
      op.Prefetch(t, 0, share);
    };

// How a ring lies in shared memory and which threads load it; made by the host.
struct MbarRingParams {
  static constexpr int kMostStages = 16, kMostRowThreads = 3;
  std::int32_t stages = 0;       // 2 to kMostStages
  std::int32_t stage_bytes = 0;  // a multiple of 1024, as swizzles need
  std::int32_t b_offset = 0;     // where operand B begins in the stage; a multiple of 1024
  std::int32_t b_stride = 0;     // bytes from a k tile of B to the next; a multiple of 1024
  std::int32_t row_threads = 1;  // threads that load A, 1 to kMostRowThreads; 0: B's thread loads A
  std::int32_t thread_copies = 1;  // copies of a k tile that each of these starts; together all
  // Divides the `copies` copies of A's k tile among at most `most` threads.
  constexpr void ShareCopies(std::int32_t copies, std::int32_t most = kMostRowThreads) {
    thread_copies = most > 0 ? (copies + most - 1) / most : copies;
    row_threads = most > 0 ? (copies + thread_copies - 1) / thread_copies : 0;
  }
  // K tiles of A that are prefetched into the L2 before the kernel waits for earlier ones. Each
  // keeps TMA busy as long as the copy itself would.
  std::int32_t prefetch = 1;
  // Whether all k tiles of B stay in shared memory, loaded with a block's first tile: they lie
  // behind the stages, and all tiles of a block have the same columns. Otherwise each stage holds
  // its k tile of B.
  std::int32_t b_stays = 0;
  // ResidentRing only: the launch's number of tiles if TMA can load operand A, otherwise 0.
  std::int32_t tma_tiles = 0;
};

// How many of a tile's `rows` rows (or columns) are loaded where the product has `all` of them:
// those that exist, in multiples of 8, after which swizzles repeat. Rows beyond the product's,
// which merely fill up the tile, would cost TMA more than those that exist.
constexpr std::int64_t LoadedRows(std::int64_t rows, std::int64_t all) {
  const std::int64_t some = 8 * CeilDiv<std::int64_t>(all, 8);
  return some < rows ? some : rows;
}

// What a transform warp remembers in shared memory: a list that it makes for each tile, and four
// words that stay from tile to tile.
inline constexpr int kTransformList = 640;
struct alignas(16) TransformMemory {
  std::uint32_t word[4];
  std::uint16_t list[kTransformList];
};

inline namespace WEFT_BACKEND {

// The shared memory of a ring. TransformMemory is in a specialization, not in a member that may be
// empty, which nvcc and g++ would lay out differently.
template <class Mma, bool kTransforms>
struct RingStages {
  alignas(1024) std::uint8_t bytes[Mma::kStageBytes];
  std::uint64_t full[MbarRingParams::kMostStages], empty[MbarRingParams::kMostStages];
  std::uint64_t changed[MbarRingParams::kMostStages];  // transformed; ResidentRing: landed by TMA
  std::uint64_t order[4];                              // in which consumer warpgroups multiply
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
  // The number of the first transform warp among the producer warpgroup's warps; and the calling
  // warp's number among the transform warps.
  static constexpr int kFirstTransformWarp = 1 + kRowThreads;
  WEFT_DEVICE static int NumberOfTransformWarp(arch::Thread t) {
    return t.WarpUniform(t.warp()) - Mma::kThreads / 32 - kFirstTransformWarp;
  }

  struct Stages : RingStages<Mma, Mma::kTransforms> {};

  // Consumer warps that multiply a tile: all, or with config.ping_pong those of one group.
  static constexpr int kTileWarps = Mma::kThreads / 32 / Mma::kConsumerGroups;
  using Order = std::conditional_t<(Mma::kConsumerGroups > 1), PingPongOrder<kTileWarps>, NoOrder>;
  // The ping-pong group of a consumer thread: 0 or 1.
  WEFT_DEVICE static int ConsumerGroupOf(arch::Thread t) { return Order::GroupOf(t); }

  // A thread's position in the ring: the stage, and the parity of its phase.
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

  // Steps over the k tiles of a tile that the other ping-pong group multiplies.
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

  // Called first, by all threads of the block: initializes the mbarriers.
  WEFT_DEVICE static void Begin(arch::Thread t, Stages& shared, const Params& p) {
    Begin(t, shared, p, 1 + p.row_threads);
  }
  // arrivals: how many end a phase of `full`.
  WEFT_DEVICE static void Begin(arch::Thread t, Stages& shared, const Params& p, int arrivals) {
    // Each warp initializes the barriers of some stages: one warp for all of them, or the threads
    // of one warp (which ptxas lets go one by one), would take as long as a small tile's products.
    WEFT_NO_UNROLL
    for (int i = t.WarpUniform(t.warp()); i < p.stages;
         i += (Mma::kThreads + kProducerThreads) / 32) {
      if (t.ElectOne()) {
        t.MbarInit(t.SharedAddress(&shared.full[i]), arrivals);
        t.MbarInit(t.SharedAddress(&shared.empty[i]), kTileWarps);
        Order::Begin(t, shared.order, i);
        if constexpr (Mma::kTransforms || Mma::kResident) {
          t.MbarInit(t.SharedAddress(&shared.changed[i]), Mma::kTransformWarps);
        }
        t.FenceMbarInit();
      }
    }
    t.SyncThreads();
  }

  static_assert(32 * (1 + Params::kMostRowThreads) <= kProducerThreads);
  // Whether this thread starts TMA copies; producer: its warp's number among the producers. One
  // thread of each loading warp does, that of warp 0 for operand B. It is elected, so that ptxas
  // knows that it is alone: otherwise ptxas makes sure of that at every copy, which took as long as
  // some of the copies.
  WEFT_DEVICE static bool Copies(arch::Thread t, int producer, const Params& p) {
    return producer <= p.row_threads && t.ElectOne();
  }

  // Called by the threads that load A, for the block's first tile and before they wait for earlier
  // kernels: prefetches the first k tiles of A into the L2. Nobody reads them before the wait.
  template <LoadedByTma OperandA>
  WEFT_DEVICE static void Prefetch(arch::Thread t, const Params& p, int producer, OperandA& a,
                                   const KTileRange& k_tiles) {
    SeekFirst(a, k_tiles);
    const CopyShare share = {(producer - 1) * p.thread_copies, producer * p.thread_copies};
    const int end =
        k_tiles.begin + p.prefetch < k_tiles.end ? k_tiles.begin + p.prefetch : k_tiles.end;
    WEFT_NO_UNROLL
    for (int k_tile = k_tiles.begin; k_tile < end; ++k_tile) a.Prefetch(t, k_tile, share);
  }

  // Called by the threads that load: loads the k tiles of one tile. early: in the block's first
  // tile, how many k tiles of operand B (at most the ring's stages) are loaded before earlier
  // kernels of the stream are waited for; negative in later tiles. producer: the number of the
  // thread's warp among the producers.
  template <LoadedByTma OperandA, LoadedByTma OperandB>
  WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared, const Params& p, int producer,
                                  OperandA& a, OperandB& b, const KTileRange& k_tiles, int early,
                                  State& state) {
    if constexpr (kRowThreads == 0) {
      SeekFirst(a, k_tiles);
      SeekFirst(b, k_tiles);
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
      SeekFirst(b, k_tiles);
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
      SeekFirst(a, k_tiles);
      if (early >= 0) t.WaitForEarlierGrids();
      const CopyShare share = {(producer - 1) * p.thread_copies, producer * p.thread_copies};
      WEFT_NO_UNROLL
      for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
        const std::uint32_t full = Free(t, shared, state);
        const int bytes = a.Bytes(k_tile, share);
        // A thread without copies arrives, too: otherwise the ring could run ahead of it, and it
        // would lose count of phases.
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

  // Called by a transform warp for the k tiles of one tile: transform.Prepare(t, k_tile) while TMA
  // still loads a k tile, transform.Transform(t, stage) when it has landed at the shared address
  // `stage`. Where Prepare returns false there is nothing to transform; the warp waits for the k
  // tile all the same, or the ring could run ahead of it, as of the threads that load.
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

  // Called by the consumers: acc = A B over the k tiles. transforms: whether transform warps
  // rewrite the stages of this launch (only where Mma::kTransforms). meanwhile(): called while the
  // last products run.
  template <class Meanwhile>
  WEFT_DEVICE static void Consume(arch::Thread t, Stages& shared, const Params& p,
                                  const Mma& mainloop, const KTileRange& k_tiles,
                                  typename Mma::Accumulators& acc, State& state,
                                  [[maybe_unused]] bool transforms, const Meanwhile& meanwhile) {
    int previous = -1;  // the stage whose products may be in flight
    Order::Wait(t, shared.order, state.tile);
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
    Order::Signal(t, shared.order, state.tile);
    meanwhile();
    t.template WgmmaWait<0>();
    Mma::Keep(t, acc);
    if (Mma::kClusterSplit > 1 && previous < 0) {
      Mma::Clear(acc);
    } else {
      Release(t, shared, previous);
    }
  }

  // Called by the consumers when they have waited for a stage. wgmma sees what TMA has written
  // without a fence.
  WEFT_DEVICE static void Landed(arch::Thread) {}

  // Called last, by the producers; after TMA nothing is left to do.
  WEFT_DEVICE static void End(arch::Thread, Stages&, const Params&, State&) {}

 protected:
  // An operand begins at k tile 0, unless its block's range of k tiles begins elsewhere.
  template <class OperandT>
  WEFT_DEVICE static void SeekFirst(OperandT& operand, const KTileRange& k_tiles) {
    if constexpr (Mma::kClusterSplit > 1) operand.Seek(k_tiles.begin);
  }
  // Waits until consumers have freed the stage; returns the address of its `full` barrier.
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

// The base of stage transforms that rewrite every k tile of every tile of mainloop Mma alike and
// remember nothing.
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

  int warp_;  // this warp's number, of Mma::kTransformWarps
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
