// The matrix product kernel of the simt mainloop with cp.async: float and double.
#pragma once

#include <type_traits>

#include "weft/gemm/fragment_epilogue.hpp"
#include "weft/gemm/gemm_params.hpp"
#include "weft/gemm/simt_async_mainloop.hpp"
#include "weft/gemm/simt_async_tile.hpp"
#include "weft/gemm/simt_config.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class P>
struct SimtAsyncGemmKernel {
  using Element = typename P::Element;
  static constexpr int kAlignment = P::config.alignment.src;
  using Geometry = SimtAsyncGeometry<CheckedSimtAsyncTiles<P, sizeof(Element)>, sizeof(Element)>;
  template <bool kLines, int kExtent>
  using Tile = std::conditional_t<kLines, AsyncLineTile<Geometry, Element, kExtent>,
                                  AsyncCrossTile<Geometry, Element, kExtent, kAlignment>>;
  using TileA = Tile<kLinesOfA<P>, Geometry::kBlockM>;
  using TileB = Tile<kLinesOfB<P>, Geometry::kBlockN>;
  using MainloopType = SimtAsyncMainloop<Geometry, Element, TileA, TileB>;

  using Params = GemmParams<P>;
  using SharedStorage = typename MainloopType::SharedStorage;
  static constexpr int kThreads = Geometry::kThreads;
  static constexpr int kMinBlocksPerSm = Geometry::kMinBlocksPerSm;
  static constexpr arch::Requires kRequires{.min = 80};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    int tile_n = 0;
    const int tile_m = p.tiles_n.Divmod(t.block_x(), tile_n);

    TileA a(t, p.a, tile_m);
    TileB b(t, p.b, tile_n);
    typename MainloopType::Accumulators acc = {};
    const int first = p.a.k - (p.slices - 1) * Geometry::kBlockK;
    MainloopType::Run(t, shared, a, b, p.slices, first, acc);

    using Epilogue =
        FragmentEpilogue<GemmEpiloguePolicy<P>, SimtAsyncMap<Geometry, Element>, OutputParams<P>>;
    Epilogue::Run(t, p.output, tile_m * Geometry::kBlockM, tile_n * Geometry::kBlockN, acc);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
