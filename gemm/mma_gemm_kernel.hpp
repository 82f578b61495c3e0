// The matrix product kernel of the mma_sm80 family: int8, half and bfloat16.
#pragma once

#include <type_traits>

#include "weft/gemm/fragment_epilogue.hpp"
#include "weft/gemm/gemm_params.hpp"
#include "weft/gemm/mma_atoms.hpp"
#include "weft/gemm/mma_config.hpp"
#include "weft/gemm/mma_matrix_tile.hpp"
#include "weft/gemm/mma_sm80_mainloop.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class P>
struct MmaGemmKernel {
  static constexpr int kElementBytes = sizeof(typename P::Element);
  static constexpr int kAlignment = P::config.alignment.src;
  using Atom = typename MmaAtomFor<typename P::Element>::type;
  using Geometry = MmaGeometry<CheckedMmaTiles<P, kElementBytes>, 32 / kElementBytes>;
  using MainloopType = MmaSm80Mainloop<Geometry, Atom>;
  using TileA =
      std::conditional_t<kLinesOfA<P>,
                         MmaLineTile<Geometry, Geometry::kBlockM, kAlignment, kElementBytes, true>,
                         MmaCrossTile<Geometry, Geometry::kBlockM, kElementBytes, true>>;
  using TileB =
      std::conditional_t<kLinesOfB<P>,
                         MmaLineTile<Geometry, Geometry::kBlockN, kAlignment, kElementBytes, false>,
                         MmaCrossTile<Geometry, Geometry::kBlockN, kElementBytes, false>>;

  using Params = GemmParams<P>;
  using SharedStorage = typename MainloopType::SharedStorage;
  static constexpr int kThreads = Geometry::kThreads;
  // Tiles that transpose hold a slice in registers.
  static constexpr int kRegisters =
      kLinesOfA<P> && kLinesOfB<P> ? Geometry::kRegisters : Geometry::kRegisters * 5 / 4;
  static constexpr int kMinBlocksPerSm =
      65536 / (kRegisters * kThreads) < 1 ? 1 : 65536 / (kRegisters * kThreads);
  static constexpr int kMinComputeCapability = 80;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    int tile_n = 0;
    const int tile_m = p.tiles_n.Divmod(t.block_x(), tile_n);

    TileA a(t, p.a, tile_m);
    TileB b(t, p.b, tile_n);
    typename MainloopType::Accumulators acc = {};
    MainloopType::Run(t, shared, a, b, p.slices, acc);

    using Epilogue =
        FragmentEpilogue<GemmEpiloguePolicy<P>, MmaMap<Geometry, Atom>, OutputParams<P>>;
    Epilogue::Run(t, p.output, tile_m * Geometry::kBlockM, tile_n * Geometry::kBlockN, acc);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
