// The ping-pong kernel of wgmma_sm90: two groups of consumer warpgroups take the tiles of a
// persistent grid alternately, and one multiplies a tile while the other stores the tile before.
// They share the ring of stages, so that each group steps over the k tiles of the other one's
// tiles, and mbarriers keep their products in the order of the tiles (gemm/ring/consumer_order.hpp).
#pragma once

#include "weft/gemm/kernel/warp_specialized_roles.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class Parts>
struct PingPongKernel : WarpSpecializedRoles<Parts> {
  using Roles = WarpSpecializedRoles<Parts>;
  using typename Roles::Epilogue, typename Roles::Mainloop, typename Roles::Params;
  using typename Roles::Pipeline, typename Roles::Scheduler, typename Roles::State;
  using SharedStorage = WarpSpecializedStorage<typename Pipeline::Stages, Epilogue>;
  using Tiles = PersistentTiles<Scheduler>;
  static_assert(!Scheduler::kListed,
                "weft: config.ping_pong of a product of Listed is false: its tiles have k tiles of "
                "their own");
  static_assert(!Scheduler::kSparse,
                "weft: config.ping_pong of a product of Grouped is false: groups may lack some of "
                "the grid's tiles, and ping-pong passes over tiles that all exist");

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    Roles::PrefetchTensorMaps(p, t);
    Pipeline::Begin(t, shared.stages, p.ring);
    t.LetLaterGridsStart();
    const Tiles tiles(t, p);
    State state;
    const int producer = Roles::ProducerWarp(t);
    if (producer >= 0) {
      Roles::Produce(p, shared, t, producer, tiles, state);
    } else {
      Consume(p, shared, t, tiles, state);
    }
  }

 private:
  // The warpgroups of a ping-pong group multiply every other work tile of the block together, then
  // store it.
  WEFT_DEVICE static void Consume(const Params& p, SharedStorage& shared, arch::Thread t,
                                  const Tiles& tiles, State& state) {
    Roles::TakeRegisters(t);
    t.WaitForEarlierGrids();
    const Mainloop mainloop(t, p.plan);
    typename Epilogue::Kept kept;
    const int set = Pipeline::ConsumerGroupOf(t), first = tiles.first + set * tiles.step;
    if (set > 0) {
      Pipeline::SkipTile(t, shared.stages, p.ring, p.k_tiles, Roles::Transforms(p), state);
    }
    WEFT_NO_UNROLL
    for (int i = first; i < tiles.end; i += Mainloop::kConsumerGroups * tiles.step) {
      const auto work = tiles.At(p, i);
      const typename Roles::template Store<decltype(work)> store(work);
      store.Begin(t, shared);
      // In the first tile the operands are still being loaded, which leaves time for Prepare; in
      // later tiles it runs while products are in flight.
      const bool is_first = i == first;
      if (is_first) store.Prepare(t, shared, kept);
      typename Mainloop::Accumulators acc;
      Pipeline::Consume(t, shared.stages, p.ring, mainloop, work.k_tiles, acc, state,
                        Roles::Transforms(p), [&] {
                          if (!is_first) store.Prepare(t, shared, kept);
                        });
      store.Run(t, shared, kept, acc);
      Pipeline::SkipTile(t, shared.stages, p.ring, p.k_tiles, Roles::Transforms(p), state);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
