// The cooperative kernel of wgmma_sm90: all consumer warpgroups multiply every tile together, in a
// persistent grid. The scheduler says whether the tiles are those of one product, a batch, a group
// or a list.
#pragma once

#include "weft/gemm/kernel/warp_specialized_roles.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class Parts>
struct WarpSpecializedKernel : WarpSpecializedRoles<Parts> {
  using Roles = WarpSpecializedRoles<Parts>;
  using typename Roles::Epilogue, typename Roles::Mainloop, typename Roles::Params;
  using typename Roles::Pipeline, typename Roles::Scheduler, typename Roles::State;
  using SharedStorage = WarpSpecializedStorage<typename Pipeline::Stages, Epilogue>;
  using Tiles = PersistentTiles<Scheduler>;

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
  // All consumer warpgroups multiply a work tile together, then store it, while producers load the
  // next one.
  WEFT_DEVICE static void Consume(const Params& p, SharedStorage& shared, arch::Thread t,
                                  const Tiles& tiles, State& state) {
    Roles::TakeRegisters(t);
    t.WaitForEarlierGrids();
    const Mainloop mainloop(t, p.plan);
    typename Epilogue::Kept kept;
    WEFT_NO_UNROLL
    for (int i = tiles.first; i < tiles.end; i += tiles.step) {
      const auto work = tiles.At(p, i);
      if (!Roles::Exists(t, work.tile)) continue;
      if constexpr (Scheduler::kListed) kept = {};  // what it keeps is the previous product's
      const typename Roles::template Store<decltype(work)> store(work);
      store.Begin(t, shared);
      // In the first tile the operands are still being loaded, which leaves time for Prepare; in
      // later tiles it runs while products are in flight.
      const bool is_first = i == tiles.first;
      if (is_first) store.Prepare(t, shared, kept);
      typename Mainloop::Accumulators acc;
      Pipeline::Consume(t, shared.stages, p.ring, mainloop, work.k_tiles, acc, state,
                        Roles::Transforms(p), [&] {
                          if (!is_first) store.Prepare(t, shared, kept);
                        });
      store.Run(t, shared, kept, acc);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
