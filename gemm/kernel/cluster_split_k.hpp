// The cluster split-K kernel of wgmma_sm90: a cluster of Mainloop::kClusterSplit blocks multiplies
// each tile. Every block multiplies a part of the k tiles, then the blocks exchange accumulators
// and each stores a part of the tile's rows (gemm/kernel/cluster_split_k_sums.hpp).
#pragma once

#include <type_traits>

#include "weft/gemm/kernel/cluster_split_k_sums.hpp"
#include "weft/gemm/kernel/warp_specialized_roles.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The work tiles of a block of a cluster: every tile of the cluster, with the block's part of its k
// tiles.
template <class Scheduler, class Mainloop>
struct ClusterTiles {
  int first, step, end;
  KTileRange k_tiles;

  template <class Params>
  WEFT_DEVICE ClusterTiles(arch::Thread t, const Params& p)
      : first(t.block_x() / Mainloop::kClusterSplit),
        step(t.grid_x() / Mainloop::kClusterSplit),
        end(p.tiles),
        k_tiles(Mainloop::KTilesOf(t, p.k_tiles)) {}

  template <class Params>
  WEFT_DEVICE auto At(const Params& p, int i) const {
    const auto tile = Scheduler::At(p.schedule, i);
    return WorkTile<std::remove_cvref_t<decltype(tile)>, Params>{tile, p, k_tiles};
  }
};

template <class Parts>
struct ClusterSplitKKernel : WarpSpecializedRoles<Parts> {
  using Roles = WarpSpecializedRoles<Parts>;
  using typename Roles::Epilogue, typename Roles::Mainloop, typename Roles::Params;
  using typename Roles::Pipeline, typename Roles::Scheduler, typename Roles::State;
  using Tiles = ClusterTiles<Scheduler, Mainloop>;
  using Split = ClusterSplitKSums<Mainloop>;
  struct SharedStorage : WarpSpecializedStorage<typename Pipeline::Stages, Epilogue> {
    typename Split::Shared split;
  };
  static_assert(
      !Scheduler::kListed,
      "weft: config.cluster_split_k of a product of Listed is 1: its products are tiles enough");
  // Blocks without a tile would lose count of the rounds of the exchange.
  static_assert(
      !Scheduler::kSparse,
      "weft: config.cluster_split_k of a product of Grouped is 1: its groups are tiles enough");

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    Roles::PrefetchTensorMaps(p, t);
    Split::Begin(t, shared.split);
    Pipeline::Begin(t, shared.stages, p.ring);
    t.ClusterArriveRelaxed();
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
  WEFT_DEVICE static void Produce(const Params& p, SharedStorage& shared, arch::Thread t,
                                  int producer, const Tiles& tiles, State& state) {
    Roles::GiveRegisters(t);
    Roles::Transform(p, shared, t, producer, tiles, state);
    Roles::Load(p, shared, t, producer, tiles, state);
    // Every thread that has arrived at the cluster's barrier also waits there.
    t.SyncWarp();
    t.ClusterWait();
    Roles::Producer::Finish(t);
  }

  // All consumer warpgroups multiply the block's k tiles of a work tile, add up the cluster's
  // accumulators of the rows that this block stores, and store these.
  WEFT_DEVICE static void Consume(const Params& p, SharedStorage& shared, arch::Thread t,
                                  const Tiles& tiles, State& state) {
    Roles::TakeRegisters(t);
    t.WaitForEarlierGrids();
    const Mainloop mainloop(t, p.plan);
    t.ClusterWait();  // the other blocks' mbarriers are initialized
    int round = 0;
    typename Epilogue::Kept kept;
    WEFT_NO_UNROLL
    for (int i = tiles.first; i < tiles.end; i += tiles.step) {
      const auto work = tiles.At(p, i);
      const typename Roles::template Store<decltype(work)> store(work);
      store.Begin(t, shared);
      store.Prepare(t, shared, kept);
      typename Mainloop::Accumulators acc;
      Pipeline::Consume(t, shared.stages, p.ring, mainloop, work.k_tiles, acc, state,
                        Roles::Transforms(p), [] {});
      typename Mainloop::OwnSums sums;
      const bool is_last = i + tiles.step >= tiles.end;
      Split::Add(t, shared.split, acc, round++, is_last, sums);
      store.Run(t, shared, kept, sums);
      // Without a barrier ptxas takes the warps for divergent after they have waited for
      // accumulators, and issues the next tile's products one by one.
      t.BarSync(1 + Mainloop::Map::Group(t), 128);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
