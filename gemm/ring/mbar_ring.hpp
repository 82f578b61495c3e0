// MbarRing, the pipeline of the kernels with producer warps: a ring of stages that the block's last
// warpgroup fills, its producers, and that the other warpgroups multiply, its consumers. The
// mbarriers of a stage (ring_stages.hpp) hand it from one to the other. The ring goes on from tile
// to tile, so that the next tile's first k tiles are loaded during this one's epilogue.
//
// Who fills a stage is a producer (producer.hpp): TmaProducer, GatherProducer or
// FirstLayerProducer.
//
// Where a stage transform rewrites what TMA has loaded before it is multiplied (Mma::kTransforms),
// the last Mma::kTransformWarps warps of the producer warpgroup are transform warps, and a third
// mbarrier, `changed`, ends a phase when they are done.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/ring/consumer_order.hpp"
#include "weft/gemm/ring/ring_stages.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Which thread of a block does what in a ring, however many bytes it has.
template <class Mma>
struct RingRoles {
  using Producer = typename Mma::Producer;
  static constexpr int kProducerThreads = Producer::kThreads;
  static_assert(32 * (1 + MbarRingParams::kMostRowThreads) <= kProducerThreads);
  // The number of the first transform warp among the producer warpgroup's warps; and the calling
  // warp's number among the transform warps.
  static constexpr int kFirstTransformWarp = 1 + Producer::RowThreads();
  WEFT_DEVICE static int NumberOfTransformWarp(arch::Thread t) {
    return t.WarpUniform(t.warp()) - Mma::kThreads / 32 - kFirstTransformWarp;
  }
};

// kBytes: of all stages.
template <class Mma, int kBytes>
struct MbarRing : PipelineTraits, RingRoles<Mma> {
  using Roles = RingRoles<Mma>;
  using Roles::kFirstTransformWarp, Roles::kProducerThreads;
  using typename Roles::Producer;
  using Mainloop = Mma;
  using Params = MbarRingParams;
  using Stages = RingStages<typename Mma::Shape, kBytes>;
  static constexpr int kStageBytes = kBytes;

  // Consumer warps that multiply a tile: all, or with config.ping_pong those of one group.
  static constexpr int kTileWarps = Mma::kThreads / 32 / Mma::kConsumerGroups;
  using Order = std::conditional_t<
      Producer::kFirstLayer, StaggeredOrder<Mma::kGroups>,
      std::conditional_t<(Mma::kConsumerGroups > 1), PingPongOrder<kTileWarps>, NoOrder>>;
  // The ping-pong group of a consumer thread: 0 or 1.
  WEFT_DEVICE static int ConsumerGroupOf(arch::Thread t) { return Order::GroupOf(t); }

  struct State : Producer::State {
    typename Order::State order;
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
    const int arrivals = Producer::Arrivals(t, p);
    // Each warp initializes the barriers of some stages: one warp for all of them, or the threads
    // of one warp (which ptxas lets go one by one), would take as long as a small tile's products.
    WEFT_NO_UNROLL
    for (int i = t.WarpUniform(t.warp()); i < p.stages;
         i += (Mma::kThreads + kProducerThreads) / 32) {
      if (t.ElectOne()) {
        t.MbarInit(t.SharedAddress(&shared.full[i]), arrivals);
        t.MbarInit(t.SharedAddress(&shared.empty[i]), kTileWarps);
        Order::Begin(t, shared.order, i);
        if constexpr (Mma::kTransforms) {
          t.MbarInit(t.SharedAddress(&shared.changed[i]), Mma::kTransformWarps);
        }
        Producer::Begin(t, shared.producer, i);
        t.FenceMbarInit();
      }
    }
    t.SyncThreads();
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
        transform.Transform(t, shared.Stage(t, p, state.slot));
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
    Order::Wait(t, shared.order, state.order);
    WEFT_NO_UNROLL
    for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
      const std::uint32_t stage = shared.Stage(t, p, state.slot);
      t.MbarWait(t.SharedAddress(&shared.full[state.slot]), state.parity);
      if constexpr (Mma::kTransforms) {
        if (transforms) t.MbarWait(t.SharedAddress(&shared.changed[state.slot]), state.parity);
      }
      Producer::Landed(t, p);
      mainloop.Multiply(t, stage, shared.KTileOfB(t, p, state.slot, k_tile), k_tile, k_tiles, acc,
                        [&] {
                          if (previous >= 0) shared.Release(t, previous);
                        });
      previous = state.slot;
      state.Next(p.stages);
    }
    Order::Started(t, shared.order, state.order);
    meanwhile();
    t.template WgmmaWait<0>();
    Mma::KeepInPlace(t, acc);
    if (Mma::kClusterSplit > 1 && previous < 0) {
      Mma::Clear(acc);
    } else {
      shared.Release(t, previous);
    }
    Order::Finished(t, shared.order, state.order);
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
      : warp_(RingRoles<Mma>::NumberOfTransformWarp(t)) {}

  int warp_;  // this warp's number, of Mma::kTransformWarps
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
