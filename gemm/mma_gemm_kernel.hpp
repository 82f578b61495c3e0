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
  using MainloopType = MmaSm80Mainloop<Geometry, Atom, LineMajor>;
  // Adjacent columns of C that a thread holds: 16 bytes, so that the four threads of a row write
  // whole sectors together.
  static constexpr int kRun = sizeof(typename P::Epilogue::Output) == 4 ? 4 : Geometry::kRun;
  template <bool kWhole>
  using TileA = std::conditional_t<
      kLinesOfA<P>,
      MmaLineTile<Geometry, Geometry::kBlockM, kAlignment, kElementBytes, true, kRun, kWhole>,
      MmaCrossTile<Geometry, Geometry::kBlockM, kElementBytes, true, kRun>>;
  template <bool kWhole>
  using TileB = std::conditional_t<
      kLinesOfB<P>,
      MmaLineTile<Geometry, Geometry::kBlockN, kAlignment, kElementBytes, false, kRun, kWhole>,
      MmaCrossTile<Geometry, Geometry::kBlockN, kElementBytes, false, kRun>>;

  using Params = GemmParams<P>;
  using SharedStorage = typename MainloopType::SharedStorage;
  static constexpr int kThreads = Geometry::kThreads;
  // Tiles that transpose hold a slice in registers.
  static constexpr int kRegisters =
      kLinesOfA<P> && kLinesOfB<P> ? Geometry::kRegisters : Geometry::kRegisters * 5 / 4;
  static constexpr int kMinBlocksPerSm =
      65536 / (kRegisters * kThreads) < 1 ? 1 : 65536 / (kRegisters * kThreads);
  static constexpr arch::Requires kRequires{.min = 80};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    int tile_n = 0;
    const int tile_m = p.tiles_n.Divmod(t.block_x(), tile_n);

    typename MainloopType::Accumulators acc = {};
    if ((kLinesOfA<P> || kLinesOfB<P>)&&p.a.k * kElementBytes % kAlignment != 0) {
      Multiply<false>(t, p, shared, tile_m, tile_n, acc);
    } else {
      Multiply<true>(t, p, shared, tile_m, tile_n, acc);
    }

    using Epilogue =
        FragmentEpilogue<GemmEpiloguePolicy<P>, MmaMap<Geometry, Atom, kRun>, OutputParams<P>>;
    Epilogue::Run(t, p.output, tile_m * Geometry::kBlockM, tile_n * Geometry::kBlockN, acc);
  }

 private:
  template <bool kWhole>
  WEFT_DEVICE static void Multiply(arch::Thread t, const Params& p, SharedStorage& shared,
                                   int tile_m, int tile_n,
                                   typename MainloopType::Accumulators& acc) {
    TileA<kWhole> a(t, p.a, tile_m);
    TileB<kWhole> b(t, p.b, tile_n);
    MainloopType::Run(t, shared, a, b, p.slices, acc);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
