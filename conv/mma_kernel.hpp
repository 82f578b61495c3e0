// The convolution kernel of the mma_sm80 family: implicit GEMM over NCxHWx<32> or NHWC, one output
// tile a block.
#pragma once

#include <type_traits>

#include "weft/conv/mma_tiles.hpp"
#include "weft/conv/nhwc_tiles.hpp"
#include "weft/conv/params.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/fragment_epilogue.hpp"
#include "weft/gemm/mma_sm80_mainloop.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// The operand tiles for a source layout.
template <class P, class G, class SrcLayout, bool kPointwise>
struct MmaOperands {
  template <class Share>
  using Cursor = std::conditional_t<kPointwise, PlaneCursor<Share>, TapCursor<Share>>;
  using Source = MmaActivationTile<G, Cursor>;
  using LargeFilterSource = MmaActivationTile<G, LargeFilterCursor>;
  using Filter = MmaFilterTile<G>;
};
template <class P, class G, bool kPointwise>
struct MmaOperands<P, G, NHWC, kPointwise> {
  template <int kPixels, int kStep>
  using Cursor = std::conditional_t<kPointwise, NhwcPointwiseCursor<kPixels, kStep>,
                                    NhwcCursor<kPixels, kStep>>;
  using Source = NhwcActivationTile<G, Cursor, P::config.alignment.src>;
  using Filter = KrscFilterTile<G, P::config.alignment.src>;
};

// P: a conv::Policy. kPointwise: R = S = 1 without padding.
template <class P, bool kPointwise>
struct MmaSm80Kernel {
  using Geometry = gemm::MmaGeometry<CheckedPolicy<P>>;
  using MainloopType = gemm::MmaSm80Mainloop<Geometry>;
  using Operands = MmaOperands<P, Geometry, typename P::SrcLayout, kPointwise>;

  using Params = KernelParams<P>;
  using SharedStorage = typename MainloopType::SharedStorage;
  static constexpr int kThreads = Geometry::kThreads;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  // ptxas gives epilogues with a residual more registers for these targets.
  static constexpr int kRegisters =
      P::Epilogue::kHasResidual ? Geometry::kRegisters * 5 / 4 : Geometry::kRegisters;
  static constexpr int kMinBlocksPerSm =
      65536 / (kRegisters * kThreads) < 1 ? 1 : 65536 / (kRegisters * kThreads);
#else
  static constexpr int kMinBlocksPerSm = Geometry::kMinBlocksPerSm;
#endif
  static constexpr arch::Requires kRequires{.min = 80};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    int tile_n = 0;
    const int tile_m = p.tiles_n.Divmod(t.block_x(), tile_n);

    typename MainloopType::Accumulators acc = {};
    if constexpr (requires { typename Operands::LargeFilterSource; } && !kPointwise) {
      if (p.activation.taps.divisor() > ActivationParams::kTableTaps) {
        Multiply<typename Operands::LargeFilterSource>(t, p, shared, tile_m, tile_n, acc);
      } else {
        Multiply<typename Operands::Source>(t, p, shared, tile_m, tile_n, acc);
      }
    } else {
      Multiply<typename Operands::Source>(t, p, shared, tile_m, tile_n, acc);
    }

    using Epilogue = gemm::FragmentEpilogue<P, gemm::MmaMap<Geometry, gemm::MmaS8, Geometry::kRun>,
                                            gemm::OutputParams<P>>;
    Epilogue::Run(t, p.output, tile_m * Geometry::kBlockM, tile_n * Geometry::kBlockN, acc);
  }

 private:
  template <class Source>
  WEFT_DEVICE static void Multiply(arch::Thread t, const Params& p, SharedStorage& shared,
                                   int tile_m, int tile_n,
                                   typename MainloopType::Accumulators& acc) {
    Source source(t, p.activation, tile_m);
    typename Operands::Filter filter(t, p.filter, tile_n);
    MainloopType::Run(t, shared, source, filter, p.slices, acc);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
