// The parts that the kernels of matrix products are made of: scheduler, operands, mainloop,
// pipeline and epilogue.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/epilogue/epilogue_store.hpp"
#include "weft/gemm/hopper/tma_matrix.hpp"
#include "weft/gemm/hopper/transposed_matrices.hpp"
#include "weft/gemm/hopper/upcast_matrix.hpp"
#include "weft/gemm/hopper/wgmma_type.hpp"
#include "weft/gemm/kernel/kernel.hpp"
#include "weft/gemm/kernel/warp_specialized_params.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/gemm/mainloop/mma_sm75.hpp"
#include "weft/gemm/mainloop/mma_sm80.hpp"
#include "weft/gemm/mainloop/simt.hpp"
#include "weft/gemm/mainloop/simt_async.hpp"
#include "weft/gemm/operand/matrix_operand.hpp"
#include "weft/gemm/policy/gemm_policy.hpp"
#include "weft/gemm/staged/wgmma_store.hpp"
#include "weft/gemm/tile/tile_grid.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// The scheduler of a policy's products, and the epilogue's parameters.
template <class PolicyT, class Grid>
struct GemmSchedule {
  using Scheduler = std::conditional_t<kGrouped<PolicyT>, GroupGrid<Grid>, BatchedGrid<Grid>>;
  using Output = OutputParams<typename PolicyT::Epilogue, MatrixRows>;
};
template <class PolicyT, class Grid>
using GemmGrid = typename GemmSchedule<PolicyT, Grid>::Scheduler;

template <class PolicyT>
struct GemmParams {
  typename GemmGrid<PolicyT, TileGrid>::Params schedule;
  LoadedParams<LoadOf<PolicyT, true>> a;
  LoadedParams<LoadOf<PolicyT, false>> b;
  OutputParams<typename PolicyT::Epilogue, MatrixRows> output;
  std::int32_t k_tiles = 0;
};

// The kernel parameters of a policy with the wgmma_sm90 mainloop.
template <class PolicyT>
struct WgmmaGemmParams
    : WarpSpecializedParams<typename GemmGrid<PolicyT, BandedTileGrid>::Params, TmaMatrixParams,
                            TmaMatrixParams, OutputParams<typename PolicyT::Epilogue, MatrixRows>> {
};

// What a kernel of Listed<PolicyT> reads of one product, from a table in memory. The host makes it,
// with the same bytes for both back ends except for the tensor maps.
template <class PolicyT>
struct ListedProduct {
  static constexpr bool kWgmma = CheckedGemmPolicy<PolicyT>::kWgmma;
  using Grid = std::conditional_t<kWgmma, BandedTileGrid, TileGrid>;
  template <bool kIsA>
  using Operand = std::conditional_t<kWgmma, TmaMatrixParams, LoadedParams<LoadOf<PolicyT, kIsA>>>;
  typename Grid::Params grid;
  std::int32_t first_tile = 0;  // the number of its first tile among those of all products
  std::int32_t k_tiles = 0;
  Operand<true> a;
  Operand<false> b;
  OutputParams<typename PolicyT::Epilogue, MatrixRows> output;
};
template <class PolicyT>
using ListOf = ListGrid<typename ListedProduct<PolicyT>::Grid, ListedProduct<PolicyT>>;

template <class PolicyT, class Grid>
struct GemmSchedule<Listed<PolicyT>, Grid> {
  using Scheduler = ListOf<PolicyT>;
  using Output = OutputParams<typename PolicyT::Epilogue, MatrixRows>;
};

template <class PolicyT>
struct GemmParams<Listed<PolicyT>> {
  typename ListOf<PolicyT>::Params schedule;
};
template <class PolicyT>
struct WgmmaGemmParams<Listed<PolicyT>> {
  MbarRingParams ring;
  std::int32_t tiles = 0;
  std::int32_t early = 0;
  typename ListOf<PolicyT>::Params schedule;
  WgmmaPlan plan;
};

inline namespace WEFT_BACKEND {

// What mma_sm80 is told of a product's operands. Those of elements below 4 bytes that are MN-major
// are transposed on their way to a stage.
template <class PolicyT>
struct GemmOperands : MmaMatrices {
  static constexpr bool kTransposes = sizeof(typename PolicyT::Element) < 4;
  static constexpr bool kKMajorA = kTransposes || gemm::kKMajorA<PolicyT>;
  static constexpr bool kKMajorB = kTransposes || gemm::kKMajorB<PolicyT>;
};

// The mainloop that a policy's config names, but for wgmma_sm90.
template <class PolicyT, Mainloop mainloop = CheckedGemmPolicy<PolicyT>::kMainloop>
using GemmMainloop = std::conditional_t<
    mainloop == Mainloop::kSimt, SimtMainloop<PolicyT>,
    std::conditional_t<
        mainloop == Mainloop::kSimtAsync,
        SimtAsyncMainloop<PolicyT, kKMajorA<PolicyT>, kKMajorB<PolicyT>>,
        std::conditional_t<mainloop == Mainloop::kMmaSm75, MmaSm75Mainloop<PolicyT, MmaMatrices>,
                           MmaSm80Mainloop<PolicyT, GemmOperands<PolicyT>>>>>;

// The parts of which gemm::KernelOf makes a multistage kernel (simt, simt_async, mma_sm75,
// mma_sm80). PolicyT: a GEMM policy. kWhole: no access of a K-major operand is partly past the end
// of k.
template <class PolicyT, bool kWhole>
struct GemmParts : PartsTraits {
  using Params = GemmParams<PolicyT>;
  using Scheduler = GemmGrid<PolicyT, TileGrid>;
  using Mainloop = GemmMainloop<PolicyT>;
  using Pipeline = typename Mainloop::Pipeline;
  using OperandA = MatrixOperandOf<Mainloop, PolicyT, RowsOfA,
                                   MatrixKind<kKMajorA<PolicyT>, kWhole, kGrouped<PolicyT>>>;
  using OperandB = MatrixOperandOf<Mainloop, PolicyT, typename Mainloop::ColumnsOfB,
                                   MatrixKind<kKMajorB<PolicyT>, kWhole>>;

  struct Destination {
    using DstLayout = MatrixFormat<typename PolicyT::LayoutC>;
    using Epilogue = typename PolicyT::Epilogue;
    static constexpr auto config = PolicyT::config;
  };
  using Output = typename GemmSchedule<PolicyT, TileGrid>::Output;
  using Stored = WithDependentLaunch<Destination, Pipeline, OperandA, OperandB>;
  using Epilogue = DirectStore<Stored, Output, typename Mainloop::Map>;

  // The registers of a thread. The mainloop's own number is not enough for MN-major operands, which
  // need a k tile in flight in registers or more address arithmetic; for predicates at a ragged k;
  // for groups; for a residual of floats; and for a list, whose products have their parameters in
  // global instead of constant memory.
  static constexpr int kRegisters = [] {
    constexpr bool kBothKMajor = kKMajorA<PolicyT> && kKMajorB<PolicyT>,
                   kCross = !kKMajorA<PolicyT> && !kKMajorB<PolicyT>;
    constexpr bool kConverts = kLoads<LoadOf<PolicyT, true>> || kLoads<LoadOf<PolicyT, false>>;
    constexpr int kOwn = Mainloop::Registers(0);
    if (PolicyT::config.registers > 0) return kOwn;
    if (CheckedGemmPolicy<PolicyT>::kMainloop == gemm::Mainloop::kMmaSm80) {
      if (sizeof(typename PolicyT::Element) >= 4) return kOwn;  // cp.async copies them unchanged
      if (kConverts && kCross) return kOwn * 3 / 2 < 248 ? kOwn * 3 / 2 : 248;
      return kBothKMajor && !kConverts && !kListed<PolicyT> ? kOwn : kOwn * 5 / 4;
    }
    constexpr bool kResidual =
        PolicyT::Epilogue::kHasResidual && sizeof(typename PolicyT::Element) >= 4;
    return kOwn == 128 && (kCross || !kWhole || kGrouped<PolicyT> || kListed<PolicyT> || kResidual)
               ? 168
               : kOwn;
  }();
  // Before sm_90 ptxas takes more registers for a residual. A block of at most 128 threads has
  // them.
  static constexpr int kRegistersBefore90 =
      PolicyT::Epilogue::kHasResidual && kRegisters == 128 && Mainloop::kThreads <= 128
          ? 160
          : kRegisters;
};

// The parts of which gemm::KernelOf makes a wgmma_sm90 kernel.
template <class PolicyT>
struct WgmmaGemmParts : PartsTraits {
  using Params = WgmmaGemmParams<PolicyT>;
  using Scheduler = GemmGrid<PolicyT, BandedTileGrid>;
  static constexpr bool kUpcastsA = CheckedGemmPolicy<PolicyT>::kWgmmaUpcastsA;
  static constexpr bool kUpcastsB = CheckedGemmPolicy<PolicyT>::kWgmmaUpcastsB;
  static constexpr int kLineOfB =
      UpcastLineBytes(PolicyT::config.threadblock.k, kOperandBits<PolicyT, false>);  // if kUpcastsB
  static_assert(!kUpcastsB || !kKMajorB<PolicyT> || IsUpcastLine(kLineOfB),
                "weft: config.threadblock.k of a wgmma_sm90 GEMM with LoadB is as many elements as "
                "are 32, 64 or 128 bytes of B");
  struct Spec : WgmmaSpec {
    static constexpr arch::WgmmaType kType = WgmmaTypeOf<typename PolicyT::Element>::value;
    static constexpr bool kRowsMnMajor = !kKMajorA<PolicyT> && !kTransposed<PolicyT>;
    static constexpr bool kColumnsMnMajor =
        !kKMajorB<PolicyT> && !kTransposed<PolicyT> && !kUpcastsB;
    static constexpr bool kTransforms = kTransposed<PolicyT> || kUpcastsA;
    static constexpr bool kMayHaveNoK = true;
    // Three warps transposed bytes more slowly than two, each of which has more loads in flight
    // (docs/log/mixed_products.md).
    static constexpr int kTransformWarps = kUpcastsA ? 3 : kTransforms ? 2 : 1;
    static constexpr int kTransformRegisters = sizeof(typename PolicyT::Element) == 4 ? 40
                                               : kUpcastsA || PolicyT::config.blocks_per_sm == 2
                                                   ? 56
                                                   : 72;
    using RegisterFragments =
        std::conditional_t<!kUpcastsB, void,
                           std::conditional_t<kKMajorB<PolicyT>,
                                              UpcastKMajor<LoadOf<PolicyT, false>,
                                                           IsUpcastLine(kLineOfB) ? kLineOfB : 128>,
                                              UpcastMnMajor<LoadOf<PolicyT, false>>>>;
  };
  using Mainloop = WgmmaSm90Mainloop<PolicyT, Spec>;
  struct Destination {
    using DstLayout = MatrixFormat<typename PolicyT::LayoutC>;
    using Epilogue = typename PolicyT::Epilogue;
    static constexpr auto config = PolicyT::config;
  };
  using Output = typename GemmSchedule<PolicyT, BandedTileGrid>::Output;
  using Epilogue = WgmmaStore<Destination, Output, Mainloop>;
  using Pipeline = RingOf<Mainloop, Epilogue>;
  static constexpr TileShape kTile = PolicyT::config.threadblock;
  static constexpr int kElementBytes = sizeof(typename PolicyT::Element);
  // The stage transform, which is used if Spec::kTransforms.
  using StageTransform = std::conditional_t<
      kUpcastsA, UpcastMatrix<Mainloop, LoadOf<PolicyT, true>, kTile.m * kTile.k / kUpcastLine>,
      TransposeMatrices<Mainloop, kElementBytes, !kKMajorA<PolicyT>, !kKMajorB<PolicyT>>>;
  static_assert(!kUpcastsA ||
                    (kTile.k == kUpcastLine && (kKMajorA<PolicyT> || kTile.m % kUpcastLine == 0)),
                "weft: config.threadblock.k of a wgmma_sm90 GEMM with LoadA is 64, and where A is "
                "column-major config.threadblock.m is a multiple of 64");
  static_assert(
      !kTransposed<PolicyT> || kTile.k == TransposedBox(kElementBytes),
      "weft: config.threadblock.k of a wgmma_sm90 GEMM of Tf32 is 32, and of bytes 128, where k "
      "does not run along both operands");
  static_assert(2 * (MatrixKTileBytes(kTile.m, kTile.k, kElementBytes, kKMajorA<PolicyT>) +
                     (kUpcastsA ? NarrowBytes(kTile.m * kTile.k, kOperandBits<PolicyT, true>) : 0) +
                     (kUpcastsB ? NarrowBytes(kTile.n * kTile.k, kOperandBits<PolicyT, false>)
                                : MatrixKTileBytes(kTile.n, kTile.k, kElementBytes,
                                                   kKMajorB<PolicyT>))) <=
                    Pipeline::kStageBytes,
                "weft: two k tiles of config.threadblock of a wgmma_sm90 GEMM do not fit in shared "
                "memory; make config.threadblock.k smaller");
  static_assert((kKMajorA<PolicyT> && kKMajorB<PolicyT>) || (kTile.k <= 256 && kTile.k % 8 == 0),
                "weft: where operands are MN-major, config.threadblock.k of a wgmma_sm90 "
                "GEMM is a multiple of 8, at most 256");
  // The rows (columns) of an MN-major operand that is upcast are counted in bytes, not elements,
  // since two elements of 4 bits share a byte.
  static constexpr int kRowsOfA = kUpcastsA && !kKMajorA<PolicyT>
                                      ? Mainloop::kBlockM * kOperandBits<PolicyT, true> / 8
                                      : Mainloop::kBlockM;
  using OperandA = TmaOperand<
      TmaMatrixIterator<RowsOfA, kRowsOfA, MatrixKind<kKMajorA<PolicyT>, true, kGrouped<PolicyT>>>>;
  static constexpr int kColumnsOfB = kUpcastsB && !kKMajorB<PolicyT>
                                         ? Mainloop::kBlockN * kOperandBits<PolicyT, false> / 8
                                         : Mainloop::kBlockN;
  using OperandB =
      TmaOperand<TmaMatrixIterator<RowsOfB, kColumnsOfB, MatrixKind<kKMajorB<PolicyT>, true>>>;
  static constexpr int kRegisters = Mainloop::kStartRegisters;
};

template <class PolicyT>
  requires MatrixPolicy<PolicyT>
struct KernelList<PolicyT> {
  // Kernel 0 takes a k that is a multiple of config.alignment.src bytes. Kernel 1 takes a ragged k,
  // which matters only where an operand is K-major and an access holds several elements.
  static constexpr int kCount = 2;
  static constexpr bool kKMajor = kKMajorA<PolicyT> || kKMajorB<PolicyT>;
  static constexpr bool kRaggedK = kKMajor &&
                                   PolicyT::config.alignment.src >
                                       static_cast<int>(sizeof(typename PolicyT::Element)) &&
                                   CheckedGemmPolicy<PolicyT>::kMainloop
                                       != gemm::Mainloop::kSimtAsync
                                   && !CheckedGemmPolicy<PolicyT>::kWgmma;
  template <int i>
  static constexpr bool kExists = kOneKernel ? i == int{kRaggedK} : i == 0 || kRaggedK;
  template <int i>
  using Kernel = KernelOf<std::conditional_t<CheckedGemmPolicy<PolicyT>::kWgmma,
                                             WgmmaGemmParts<PolicyT>, GemmParts<PolicyT, i == 0>>>;
};

template <class PolicyT>
using GemmKernel = typename KernelList<PolicyT>::template Kernel<0>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
