// The matrix product kernel of the simt family: the mainloop and the epilogue of the convolution,
// between matrix operand tiles.
#pragma once

#include <type_traits>

#include "weft/gemm/fragment_epilogue.hpp"
#include "weft/gemm/gemm_params.hpp"
#include "weft/gemm/matrix_tile.hpp"
#include "weft/gemm/simt_atoms.hpp"
#include "weft/gemm/simt_config.hpp"
#include "weft/gemm/simt_mainloop.hpp"

namespace weft::gemm {

inline namespace WEFT_BACKEND {

template <class P>
struct SimtGemmKernel {
  static constexpr int kAlignment = P::config.alignment.src;
  using Atom = SimtAtomFor<typename P::Element>;
  static constexpr int kPacketBytes = sizeof(typename Atom::Packet);
  using Geometry = SimtGeometry<CheckedSimtTiles<P, Atom::kElements, kPacketBytes>, kPacketBytes>;
  using MainloopType = SimtMainloop<Geometry, Atom>;
  using TileA = std::conditional_t<kLinesOfA<P>,
                                   LineTile<Geometry, Atom, Geometry::kBlockM, kAlignment, true>,
                                   CrossTile<Geometry, Atom, Geometry::kBlockM, kAlignment, true>>;
  using TileB = std::conditional_t<kLinesOfB<P>,
                                   LineTile<Geometry, Atom, Geometry::kBlockN, kAlignment, false>,
                                   CrossTile<Geometry, Atom, Geometry::kBlockN, kAlignment, false>>;

  using Params = GemmParams<P>;
  using SharedStorage = typename MainloopType::SharedStorage;
  static constexpr int kThreads = Geometry::kThreads;
  // Two operands that do not run along k take more address registers than 128 leave beside 64 sums.
  static constexpr int kMinBlocksPerSm =
      !kLinesOfA<P> && !kLinesOfB<P> && Atom::kElements == 1 && Geometry::kSums == 64
          ? CeilDiv(Geometry::kMinBlocksPerSm, 2)
          : Geometry::kMinBlocksPerSm;
  static constexpr arch::Requires kRequires{.min = 75};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    int tile_n = 0;
    const int tile_m = p.tiles_n.Divmod(t.block_x(), tile_n);

    TileA a(t, p.a, tile_m);
    TileB b(t, p.b, tile_n);
    typename MainloopType::Accumulators acc = {};
    if (!MainloopType::Run(t, shared, a, b, p.slices, acc)) return;

    using Epilogue =
        FragmentEpilogue<GemmEpiloguePolicy<P>, SimtMap<Geometry, Atom>, OutputParams<P>>;
    Epilogue::Run(t, p.output, tile_m * Geometry::kBlockM, tile_n * Geometry::kBlockN, acc);
  }
};

}  // namespace WEFT_BACKEND

}  // namespace weft::gemm
