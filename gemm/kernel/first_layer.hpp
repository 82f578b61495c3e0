// The kernel of wgmma_sm90 for a convolution's first layer, over NCxHWx<4>: the whole filter fits in shared memory and
// stays there, stored by the consumer warpgroups themselves, while all threads of the producer warpgroup load the
// source (ResidentRing). A persistent grid, all of whose tiles have a single k tile.
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
    // Where TMA can load the source at all.
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

  // Consumer warpgroups see to it that the filter of a work tile is there, multiply the tile and store it.
  WEFT_DEVICE static void Consume(const Params& p, SharedStorage& shared, arch::Thread t,
                                  const Tiles& tiles, State& state) {
    Roles::TakeRegisters(t);
    if constexpr (!Scheduler::kReads) {
      // The first tile's before earlier kernels have ended, if they do not write it.
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
      // The first tile's operands are still on their way; later ones' products give the time.
      const bool is_first = i == tiles.first;
      if (is_first) store.Prepare(t, shared, kept);
      typename Mainloop::Accumulators acc;
      Pipeline::Consume(t, shared.stages, p.ring, mainloop, work.k_tiles, acc, state, false, [&] {
        if (!is_first) store.Prepare(t, shared, kept);
      });
      store.Run(t, shared, kept, acc);
    }
  }

  // Does nothing where the filter of the tile before is the same.
  template <class Work>
  WEFT_DEVICE static void StoreFilter(const Params& p, SharedStorage& shared, arch::Thread t,
                                      const Work& work, State& state) {
    Pipeline::Load(t, shared.stages, p.ring, OperandB(p.b, work.tile), state);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
