// The convolution kernel of the mma_sm75 family: implicit GEMM over NCxHWx<32>, one output tile a
// block.
#pragma once

#include <type_traits>

#include "weft/conv/mma_staged_tiles.hpp"
#include "weft/conv/params.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/fragment_epilogue.hpp"
#include "weft/gemm/mma_sm75_mainloop.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// P: a conv::Policy. kPointwise: R = S = 1 without padding.
template <class P, bool kPointwise>
struct MmaSm75Kernel {
  using Geometry = gemm::MmaSm75Geometry<CheckedPolicy<P>>;
  using MainloopType = gemm::MmaSm75Mainloop<Geometry>;
  using Source = std::conditional_t<kPointwise, MmaStagedActivationTile<Geometry, PointwiseCursor>,
                                    MmaStagedActivationTile<Geometry, Im2colCursor>>;
  using Map = std::conditional_t<Geometry::kWideStores, gemm::MmaSm75WideMap<Geometry>,
                                 gemm::MmaSm75Map<Geometry>>;

  using Params = KernelParams<P>;
  using SharedStorage = typename MainloopType::SharedStorage;
  static constexpr int kThreads = Geometry::kThreads;
  static constexpr int kMinBlocksPerSm = Geometry::kMinBlocksPerSm;
  static constexpr arch::Requires kRequires{.min = 75};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    int tile_n = 0;
    const int tile_m = p.tiles_n.Divmod(t.block_x(), tile_n);

    Source source(t, p.activation, tile_m);
    MmaStagedFilterTile<Geometry> filter(t, p.filter, tile_n);
    typename MainloopType::Accumulators acc = {};
    MainloopType::Run(t, shared, source, filter, p.slices, acc);

    Map::Arrange(t, acc);
    using Epilogue = gemm::FragmentEpilogue<P, Map, gemm::OutputParams<P>>;
    Epilogue::Run(t, p.output, tile_m * Geometry::kBlockM, tile_n * Geometry::kBlockN, acc);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
