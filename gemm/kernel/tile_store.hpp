// The epilogue of a work tile in the warp-specialised kernels, whose steps lie at several places of
// the consumers' loop. Begin and Prepare start the loads of what Run needs, while the tile's
// operands are being loaded and while its products run.
#pragma once

#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Where a work tile's outputs are: the first one is at row m and column n of the tile's product.
template <class Mainloop, class Work>
struct StorePlace {
  const Work& work;
  int m, n;

  WEFT_DEVICE explicit StorePlace(const Work& w)
      : work(w),
        m(AddRows(w.tile.m * (Mainloop::kPackedRows * Mainloop::kBlockM),
                  w.product.output.rows.FirstRow(w.tile))),
        n(w.tile.n * (Mainloop::kBlockN / Mainloop::kPackedRows)) {}
};

// Through shared memory (StagedStore).
template <class Parts, class Work>
struct StagedTileStore {
  using Mainloop = typename Parts::Mainloop;
  using Epilogue = typename Parts::Epilogue;
  StorePlace<Mainloop, Work> at;

  WEFT_DEVICE explicit StagedTileStore(const Work& work) : at(work) {}

  template <class Shared>
  WEFT_DEVICE void Begin(arch::Thread t, Shared& shared) const {
    Epilogue::Begin(t, shared.epilogue, at.work.product.output, at.work.tile, at.m, at.n);
  }
  template <class Shared>
  WEFT_DEVICE void Prepare(arch::Thread t, Shared& shared, typename Epilogue::Kept& kept) const {
    Epilogue::Prepare(t, shared.epilogue, at.work.product.output, at.work.tile, at.m, at.n, kept);
  }
  template <class Shared>
  WEFT_DEVICE void Run(arch::Thread t, Shared& shared, typename Epilogue::Kept& kept,
                       const typename Mainloop::Map::Accumulators& acc) const {
    Epilogue::Run(t, shared.epilogue, at.work.product.output, at.work.tile, at.m, at.n, kept, acc);
  }
};

// Straight from registers (DirectStore).
template <class Parts, class Work>
struct DirectTileStore {
  using Mainloop = typename Parts::Mainloop;
  using Epilogue = typename Parts::Epilogue;
  StorePlace<Mainloop, Work> at;

  WEFT_DEVICE explicit DirectTileStore(const Work& work) : at(work) {}

  template <class Shared>
  WEFT_DEVICE void Begin(arch::Thread, Shared&) const {}
  template <class Shared>
  WEFT_DEVICE void Prepare(arch::Thread, Shared&, typename Epilogue::Kept&) const {}
  template <class Shared>
  WEFT_DEVICE void Run(arch::Thread t, Shared&, typename Epilogue::Kept&,
                       const typename Mainloop::Map::Accumulators& acc) const {
    Epilogue::Run(t, at.work.product.output, at.work.tile, at.m, at.n, acc);
  }
};

template <class Parts, class Work>
using TileStore = std::conditional_t<Parts::Epilogue::kStaged, StagedTileStore<Parts, Work>,
                                     DirectTileStore<Parts, Work>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
