// What the kernels of wgmma_sm90 have in common: producer warps load the k tiles of both operands,
// transform warps may rewrite what has landed, and consumer warpgroups multiply and store. The
// steps are here; in which order they are done each kernel says in a header of its own
// (warp_specialized.hpp, warp_specialized_pingpong.hpp, cluster_split_k.hpp, first_layer.hpp).
#pragma once

#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/kernel/launch_bounds.hpp"
#include "weft/gemm/kernel/shared_memory.hpp"
#include "weft/gemm/kernel/tensor_maps.hpp"
#include "weft/gemm/kernel/tile_store.hpp"
#include "weft/gemm/kernel/work_tiles.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Parts: as a MultistageKernel's. Its Params are WarpSpecializedParams or, where tiles are those of
// a list, what these have besides the products.
template <class Parts>
struct WarpSpecializedRoles
    : LaunchBounds<Parts, Parts::Mainloop::kThreads + Parts::Pipeline::kProducerThreads> {
  using Params = typename Parts::Params;
  using Scheduler = typename Parts::Scheduler;
  using OperandA = typename Parts::OperandA;
  using OperandB = typename Parts::OperandB;
  using Mainloop = typename Parts::Mainloop;
  using Pipeline = typename Parts::Pipeline;
  using Epilogue = typename Parts::Epilogue;
  using Producer = typename Pipeline::Producer;
  using State = typename Pipeline::State;
  // Each of these kernels may start while earlier ones of its stream still run
  // (arch::LaunchAttributes).
  static constexpr bool kDependent = true;
  // Whether producers give registers to consumers (setmaxnreg).
  static constexpr bool kTradesRegisters = Mainloop::kRegisters > Mainloop::kStartRegisters;
  using TensorMaps = TensorMapsOf<Parts>;
  using StageTransform =
      std::conditional_t<Mainloop::kTransforms, typename Parts::StageTransform, NoStageTransform>;

  // ---- Called by all threads, before they take their roles.

  WEFT_DEVICE static void PrefetchTensorMaps(const Params& p, arch::Thread t) {
    TensorMaps::Prefetch(p, t);
  }

  // The number of the thread's warp among the producer warps; negative for consumers. Producers are
  // the last warps of the block, so that consumers count from 0.
  WEFT_DEVICE static int ProducerWarp(arch::Thread t) {
    return t.WarpUniform(t.warp()) - Mainloop::kThreads / 32;
  }

  // ---- Called by producers and transform warps.

  WEFT_DEVICE static void GiveRegisters(arch::Thread t) {
    if constexpr (kTradesRegisters) t.template SetMaxRegDec<Mainloop::kProducerRegisters>();
  }

  // Whether transform warps rewrite the stages of this launch.
  WEFT_DEVICE static bool Transforms(const Params& p) { return StageTransform::HasWork(p); }

  // Called by the whole producer warpgroup: its transform warps rewrite every k tile of every work
  // tile when it has landed; the others return at once.
  template <class Shared, class Tiles>
  WEFT_DEVICE static void Transform(const Params& p, Shared& shared, arch::Thread t, int producer,
                                    const Tiles& tiles, State& state) {
    if constexpr (Mainloop::kTransforms) {
      if (producer < Pipeline::kFirstTransformWarp || !Transforms(p)) return;
      StageTransform transform(t, p, shared.stages.transform);
      WEFT_NO_UNROLL
      for (int i = tiles.first; i < tiles.end; i += tiles.step) {
        const auto work = tiles.At(p, i);
        if (!work.tile.exists) continue;
        transform.Aim(t, work.tile, work.k_tiles.begin);
        Pipeline::Transform(t, shared.stages, p.ring, work.k_tiles, state, transform);
      }
    }
  }

  // Called by the whole producer warpgroup: those of its threads that load anything load every k
  // tile of every work tile; the others return at once.
  template <class Shared, class Tiles>
  WEFT_DEVICE static void Load(const Params& p, Shared& shared, arch::Thread t, int producer,
                               const Tiles& tiles, State& state) {
    if (!Producer::Loads(t, producer, p.ring)) return;
    if constexpr (Scheduler::kReads) t.WaitForEarlierGrids();
    if constexpr (TensorMaps::kOfA) {
      if (producer > 0) {
        const auto work = tiles.At(p, tiles.first);
        OperandA a(p.a, work.tile);
        Producer::Prefetch(t, p.ring, producer, a, work.k_tiles);
      }
    }
    int early = p.early;
    WEFT_NO_UNROLL
    for (int i = tiles.first; i < tiles.end; i += tiles.step) {
      const auto work = tiles.At(p, i);
      if (!work.tile.exists) continue;
      TensorMaps::Fence(t, work, producer);
      OperandA a(work.product.a, work.tile);
      OperandB b(work.product.b, work.tile);
      Producer::Produce(t, shared.stages, p.ring, producer, a, b, work.k_tiles, early, state);
      early = -1;
    }
  }

  // Called by the whole producer warpgroup of a kernel that does nothing between the last load and
  // the end of the ring.
  template <class Shared, class Tiles>
  WEFT_DEVICE static void Produce(const Params& p, Shared& shared, arch::Thread t, int producer,
                                  const Tiles& tiles, State& state) {
    GiveRegisters(t);
    Transform(p, shared, t, producer, tiles, state);
    Load(p, shared, t, producer, tiles, state);
    Producer::Finish(t);
  }

  // ---- Called by the consumer warpgroups.

  WEFT_DEVICE static void TakeRegisters(arch::Thread t) {
    if constexpr (kTradesRegisters) t.template SetMaxRegInc<Mainloop::kRegisters>();
  }

  // Whether a tile exists; ptxas knows that the answer is the same for all threads of a warp.
  template <class Tile>
  WEFT_DEVICE static bool Exists(arch::Thread t, const Tile& tile) {
    return !Scheduler::kSparse || t.WarpUniform(int{tile.exists}) != 0;
  }

  // The epilogue of a work tile.
  template <class Work>
  using Store = TileStore<Parts, Work>;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
