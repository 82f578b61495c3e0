// What the kernels of wgmma_sm90 have in common: producer warps load the k tiles of both operands,
// transform warps may rewrite what has landed, and consumer warpgroups multiply and store. The
// steps are here; in which order they are done each kernel says in a header of its own
// (warp_specialized.hpp, warp_specialized_pingpong.hpp, cluster_split_k.hpp, first_layer.hpp).
#pragma once

#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/kernel/launch_bounds.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The shared memory of a block. The epilogue's part does not replace the stages, as a mainloop's
// scratch does in MultistageStorage: a ring that goes on from tile to tile is never empty.
template <class Stages, class Epilogue, bool kStaged = Epilogue::kStaged>
struct WarpSpecializedStorage {
  Stages stages;
};
template <class Stages, class Epilogue>
struct WarpSpecializedStorage<Stages, Epilogue, true> {
  Stages stages;
  typename Epilogue::Shared epilogue;
};

// What a block works on at a time: a tile, what the kernel is given of the tile's product
// (operands, output), and which of the tile's k tiles are the block's.
template <class Tile, class Product>
struct WorkTile {
  Tile tile;
  const Product& product;
  KTileRange k_tiles;
};

// The work tiles of a block of a persistent grid of G blocks: every G-th tile, with all its k
// tiles.
//
//     for (int i = tiles.first; i < tiles.end; i += tiles.step) {
//       const auto work = tiles.At(p, i);
template <class Scheduler>
struct PersistentTiles {
  int first, step, end;

  template <class Params>
  WEFT_DEVICE PersistentTiles(arch::Thread t, const Params& p)
      : first(t.block_x()), step(t.grid_x()), end(p.tiles) {}

  template <class Params>
  WEFT_DEVICE auto At(const Params& p, int i) const {
    const auto tile = Scheduler::At(p.schedule, i);
    const auto& product = tile.ProductOf(p);
    return WorkTile<std::remove_cvref_t<decltype(tile)>, std::remove_cvref_t<decltype(product)>>{
        tile, product, {0, product.k_tiles, product.k_tiles}};
  }
};

// Parts: as a MultistageKernel's. Its Params also hold the ring of stages, the plan of the
// mainloop, the number of `tiles`, and how many k tiles of operand B may be loaded `early`, before
// earlier kernels of the stream have ended.
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
  using State = typename Pipeline::State;
  // Each of these kernels may start while earlier ones of its stream still run
  // (arch::LaunchAttributes).
  static constexpr bool kDependent = true;
  // Whether producers give registers to consumers (setmaxnreg).
  static constexpr bool kTradesRegisters = Mainloop::kRegisters > Mainloop::kStartRegisters;
  // Whether the operand has a tensor map in the kernel's Params. Each product of a list has its
  // own, in global memory.
  static constexpr bool kMapOfA = OperandA::kHasTensorMap && !Scheduler::kListed;
  static constexpr bool kMapOfB = OperandB::kHasTensorMap && !Scheduler::kListed;

  // ---- Called by all threads, before they take their roles.

  WEFT_DEVICE static void PrefetchTensorMaps(const Params& p, arch::Thread t) {
    if constexpr (kMapOfA) {
      if (t.tid() == Mainloop::kThreads + 32) t.PrefetchTensorMap(p.a.map);
    }
    if constexpr (kMapOfB) {
      if (t.tid() == Mainloop::kThreads) t.PrefetchTensorMap(p.b.map);
    }
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
  WEFT_DEVICE static bool Transforms(const Params& p) {
    if constexpr (Mainloop::kTransforms) {
      return Parts::StageTransform::HasWork(p);
    } else {
      return false;
    }
  }

  // Called by the whole producer warpgroup: its transform warps rewrite every k tile of every work
  // tile when it has landed; the others return at once.
  template <class Shared, class Tiles>
  WEFT_DEVICE static void Transform(const Params& p, Shared& shared, arch::Thread t, int producer,
                                    const Tiles& tiles, State& state) {
    if constexpr (Mainloop::kTransforms) {
      if (producer < Pipeline::kFirstTransformWarp || !Transforms(p)) return;
      typename Parts::StageTransform transform(t, p, shared.stages.transform);
      WEFT_NO_UNROLL
      for (int i = tiles.first; i < tiles.end; i += tiles.step) {
        const auto work = tiles.At(p, i);
        if (!work.tile.exists) continue;
        transform.Aim(t, work.tile, work.k_tiles.begin);
        Pipeline::Transform(t, shared.stages, p.ring, work.k_tiles, state, transform);
      }
    }
  }

  // Called by the whole producer warpgroup: one thread of each of its loading warps loads every k
  // tile of every work tile; the others return at once.
  template <class Shared, class Tiles>
  WEFT_DEVICE static void Load(const Params& p, Shared& shared, arch::Thread t, int producer,
                               const Tiles& tiles, State& state) {
    if (!Pipeline::Copies(t, producer, p.ring)) return;
    if constexpr (Scheduler::kReads) t.WaitForEarlierGrids();
    if constexpr (kMapOfA) {
      if (producer > 0) {
        const auto work = tiles.At(p, tiles.first);
        OperandA a(p.a, work.tile);
        Pipeline::Prefetch(t, p.ring, producer, a, work.k_tiles);
      }
    }
    int early = p.early;
    WEFT_NO_UNROLL
    for (int i = tiles.first; i < tiles.end; i += tiles.step) {
      const auto work = tiles.At(p, i);
      if (!work.tile.exists) continue;
      if constexpr (Scheduler::kListed) {
        t.FenceTensorMap(producer == 0 ? work.product.b.map : work.product.a.map);
        if constexpr (Pipeline::kRowThreads == 0) t.FenceTensorMap(work.product.a.map);
      }
      OperandA a(work.product.a, work.tile);
      OperandB b(work.product.b, work.tile);
      Pipeline::Produce(t, shared.stages, p.ring, producer, a, b, work.k_tiles, early, state);
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
    Pipeline::End(t, shared.stages, p.ring, state);
  }

  // ---- Called by the consumer warpgroups.

  WEFT_DEVICE static void TakeRegisters(arch::Thread t) {
    if constexpr (kTradesRegisters) t.template SetMaxRegInc<Mainloop::kRegisters>();
  }

  // Whether a tile exists; ptxas knows that the answer is the same for all threads of a warp.
  template <class Tile>
  WEFT_DEVICE static bool Exists(arch::Thread t, const Tile& tile) {
    if constexpr (Scheduler::kSparse) {
      return t.WarpUniform(int{tile.exists}) != 0;
    } else {
      return true;
    }
  }

  // The epilogue of a work tile, whose first output is at row m and column n of its product. Begin
  // and Prepare start the loads of what Run needs, while the tile's operands are being loaded and
  // while its products run.
  template <class Work>
  struct Store {
    const Work& work;
    int m, n;

    WEFT_DEVICE explicit Store(const Work& w)
        : work(w),
          m(AddRows(w.tile.m * (Mainloop::kPackedRows * Mainloop::kBlockM),
                    w.product.output.rows.FirstRow(w.tile))),
          n(w.tile.n * (Mainloop::kBlockN / Mainloop::kPackedRows)) {}

    template <class Shared>
    WEFT_DEVICE void Begin(arch::Thread t, Shared& shared) const {
      if constexpr (Epilogue::kStaged) {
        Epilogue::Begin(t, shared.epilogue, work.product.output, work.tile, m, n);
      }
    }
    template <class Shared>
    WEFT_DEVICE void Prepare(arch::Thread t, Shared& shared, typename Epilogue::Kept& kept) const {
      if constexpr (Epilogue::kStaged) {
        Epilogue::Prepare(t, shared.epilogue, work.product.output, work.tile, m, n, kept);
      }
    }
    template <class Shared>
    WEFT_DEVICE void Run(arch::Thread t, Shared& shared, typename Epilogue::Kept& kept,
                         const typename Mainloop::Map::Accumulators& acc) const {
      if constexpr (Epilogue::kStaged) {
        Epilogue::Run(t, shared.epilogue, work.product.output, work.tile, m, n, kept, acc);
      } else {
        Epilogue::Run(t, work.product.output, work.tile, m, n, acc);
      }
    }
  };
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
