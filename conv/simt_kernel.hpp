// The convolution kernel of the simt family: implicit GEMM over NCxHWx<4>, one output tile a block.
#pragma once

#include <type_traits>

#include "weft/conv/activation_tile.hpp"
#include "weft/conv/filter_tile.hpp"
#include "weft/conv/params.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/fragment_epilogue.hpp"
#include "weft/gemm/simt_mainloop.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// P: a conv::Policy. kPointwise: R = S = 1 without padding.
template <class P, bool kPointwise>
struct SimtKernel {
  using Geometry = gemm::SimtGeometry<CheckedPolicy<P>>;
  using MainloopType = gemm::SimtMainloop<Geometry>;
  using Source = std::conditional_t<kPointwise, ActivationTile<Geometry, PointwiseCursor>,
                                    ActivationTile<Geometry, Im2colCursor>>;

  using Params = KernelParams<P>;
  using SharedStorage = typename MainloopType::SharedStorage;
  static constexpr int kThreads = Geometry::kThreads;
  static constexpr int kMinBlocksPerSm = Geometry::kMinBlocksPerSm;
  static constexpr arch::Requires kRequires{.min = 75};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    int tile_n = 0;
    const int tile_m = p.tiles_n.Divmod(t.block_x(), tile_n);

    Source source(t, p.activation, tile_m);
    SharedFilterTile<Geometry> filter(t, p.filter, tile_n);
    typename MainloopType::Accumulators acc = {};
    if (!MainloopType::Run(t, shared, source, filter, p.slices, acc)) return;

    using Epilogue = gemm::FragmentEpilogue<P, gemm::SimtMap<Geometry>, gemm::OutputParams<P>>;
    Epilogue::Run(t, p.output, tile_m * Geometry::kBlockM, tile_n * Geometry::kBlockN, acc);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
