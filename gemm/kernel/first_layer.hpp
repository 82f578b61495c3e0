// The kernel of wgmma_sm90 for a convolution's first layer, over NCxHWx<4>. The whole filter fits
// in shared memory and stays there: the consumer warpgroups store it themselves, while all threads
// of the producer warpgroup load the source (ResidentRing). The grid is persistent, and every tile
// has a single k tile.
#pragma once

#include "weft/gemm/kernel/warp_specialized_roles.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class Parts>
struct FirstLayerKernel : WarpSpecializedRoles<Parts> {
  using Roles = WarpSpecializedRoles<Parts>;
  using typename Roles::Epilogue, typename Roles::Mainloop, typename Roles::Params;
  using typename Roles::OperandA, typename Roles::OperandB;
  using typename Roles::Pipeline, typename Roles::Scheduler, typename Roles::State;
  using SharedStorage = WarpSpecializedStorage<typename Pipeline::Stages, Epilogue>;
  using Tiles = PersistentTiles<Scheduler>;
  static_assert(!Scheduler::kListed && !Scheduler::kSparse && !Mainloop::kTransforms);

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    // There is a tensor map only where TMA can load the source.
    if (p.ring.tma_tiles > 0 && t.tid() == Mainloop::kThreads + 32) {
      t.PrefetchTensorMap(p.a.map);
    }
    Pipeline::Begin(t, shared.stages, p.ring);
    t.LetLaterGridsStart();
    const Tiles tiles(t, p);
    State state;
    const int producer = Roles::ProducerWarp(t);
    if (producer >= 0) {
      Produce(p, shared, t, producer, tiles, state);
    } else {
      Consume(p, shared, t, tiles, state);
    }
  }

 private:
  // All threads of the producer warpgroup load the source of every work tile.
  WEFT_DEVICE static void Produce(const Params& p, SharedStorage& shared, arch::Thread t,
                                  int producer, const Tiles& tiles, State& state) {
    Roles::GiveRegisters(t);
    if constexpr (Scheduler::kReads) t.WaitForEarlierGrids();
    int early = p.early;
    WEFT_NO_UNROLL
    for (int i = tiles.first; i < tiles.end; i += tiles.step) {
      const auto work = tiles.At(p, i);
      Pipeline::Produce(t, shared.stages, p.ring, producer, OperandA(p.a, work.tile),
                        OperandB(p.b, work.tile), work.k_tiles, early, state);
      early = -1;
    }
    Pipeline::End(t, shared.stages, p.ring, state);
  }

  // The consumer warpgroups store the filter of a work tile where it has changed, multiply the tile
  // and store the result.
  WEFT_DEVICE static void Consume(const Params& p, SharedStorage& shared, arch::Thread t,
                                  const Tiles& tiles, State& state) {
    Roles::TakeRegisters(t);
    if constexpr (!Scheduler::kReads) {
      // The first tile's filter is stored before earlier kernels of the stream have ended, if they
      // do not write it (p.early > 0).
      if (p.early > 0 && tiles.first < tiles.end) {
        StoreFilter(p, shared, t, tiles.At(p, tiles.first), state);
      }
    }
    t.WaitForEarlierGrids();
    const Mainloop mainloop(t, p.plan);
    typename Epilogue::Kept kept;
    WEFT_NO_UNROLL
    for (int i = tiles.first; i < tiles.end; i += tiles.step) {
      const auto work = tiles.At(p, i);
      StoreFilter(p, shared, t, work, state);
      const typename Roles::template Store<decltype(work)> store(work);
      store.Begin(t, shared);
      // In the first tile the operands are still being loaded, which leaves time for Prepare; in
      // later tiles it runs while products are in flight.
      const bool is_first = i == tiles.first;
      if (is_first) store.Prepare(t, shared, kept);
      typename Mainloop::Accumulators acc;
      Pipeline::Consume(t, shared.stages, p.ring, mainloop, work.k_tiles, acc, state, false, [&] {
        if (!is_first) store.Prepare(t, shared, kept);
      });
      store.Run(t, shared, kept, acc);
    }
  }

  // Called by the consumers: stores a work tile's filter, unless the tile before has the same one.
  template <class Work>
  WEFT_DEVICE static void StoreFilter(const Params& p, SharedStorage& shared, arch::Thread t,
                                      const Work& work, State& state) {
    Pipeline::Load(t, shared.stages, p.ring, OperandB(p.b, work.tile), state);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
