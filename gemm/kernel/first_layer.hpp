// The kernel of wgmma_sm90 for a convolution's first layer, over NCxHWx<4>. The whole filter fits
// in shared memory and stays there: the consumer warpgroups store it themselves, while all threads
// of the producer warpgroup load the source (FirstLayerProducer). The grid is persistent, and
// every tile has a single k tile.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/gemm/kernel/warp_specialized_roles.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {

// Operand B: Key() is equal for tiles that share the operand, and not negative. Store is a consumer
// thread's share of storing the operand to the shared address `to`.
template <class Type>
concept ResidentOperand = requires(Type op, arch::Thread t, std::uint32_t to) {
  { op.Key() } -> std::convertible_to<std::int64_t>;
  op.Store(t, to);
};

inline namespace WEFT_BACKEND {

template <class Parts>
struct FirstLayerKernel : WarpSpecializedRoles<Parts> {
  using Roles = WarpSpecializedRoles<Parts>;
  using typename Roles::Epilogue, typename Roles::Mainloop, typename Roles::Params;
  using typename Roles::OperandB;
  using typename Roles::Pipeline, typename Roles::Scheduler, typename Roles::State;
  using SharedStorage = WarpSpecializedStorage<typename Pipeline::Stages, Epilogue>;
  using Tiles = std::conditional_t<Epilogue::kCarries, PersistentStrips<Scheduler>,
                                   PersistentTiles<Scheduler>>;
  static_assert(ResidentOperand<OperandB>);
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
      Roles::Produce(p, shared, t, producer, tiles, state);
    } else {
      Consume(p, shared, t, tiles, state);
    }
  }

 private:
  // The consumer warpgroups store the filter of a work tile where it has changed, multiply the tile
  // and store the result.
  WEFT_DEVICE static void Consume(const Params& p, SharedStorage& shared, arch::Thread t,
                                  const Tiles& tiles, State& state) {
    Roles::TakeRegisters(t);
    std::int64_t resident = -1;  // the Key of the filter in shared memory
    if constexpr (!Scheduler::kReads) {
      // The first tile's filter is stored before earlier kernels of the stream have ended, if they
      // do not write it (p.early > 0).
      if (p.early > 0 && tiles.first < tiles.end) {
        StoreFilter(p, shared, t, tiles.At(p, tiles.first), resident);
      }
    }
    t.WaitForEarlierGrids();
    const Mainloop mainloop(t, p.plan);
    typename Epilogue::Kept kept;
    WEFT_NO_UNROLL
    for (int i = tiles.first; i < tiles.end; i += tiles.step) {
      const auto work = tiles.At(p, i);
      StoreFilter(p, shared, t, work, resident);
      const typename Roles::template Store<decltype(work)> store(work);
      store.Begin(t, shared);
      // In the first tile the operands are still being loaded, which leaves time for Prepare; in
      // later tiles it runs while products are in flight.
      const bool is_first = i == tiles.first;
      if (is_first) store.Prepare(t, shared, kept);
      typename Mainloop::Accumulators acc;
      Pipeline::Consume(t, shared.stages, p.ring, mainloop, KTileRange{0, 1, 1}, acc, state, false,
                        [&] {
                          if (!is_first) store.Prepare(t, shared, kept);
                        });
      store.Run(t, shared, kept, acc);
    }
  }

  // Called by the consumers: stores a work tile's filter behind the stages, unless that is in shared
  // memory already.
  template <class Work>
  WEFT_DEVICE static void StoreFilter(const Params& p, SharedStorage& shared, arch::Thread t,
                                      const Work& work, std::int64_t& resident) {
    const OperandB filter(p.b, work.tile);
    if (resident == filter.Key()) return;
    // Until nobody reads the previous one.
    if (resident >= 0) t.BarSync(kBarrier, Mainloop::kThreads);
    resident = filter.Key();
    filter.Store(t, shared.stages.KTileOfB(t, p.ring, 0, 0));
    t.FenceProxyAsync();
    t.BarSync(kBarrier, Mainloop::kThreads);
  }

  // The named barrier of all consumers. Each warpgroup also has its own, one of 1 to 4.
  static constexpr int kBarrier = 8;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
