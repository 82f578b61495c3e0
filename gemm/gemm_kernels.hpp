// The parts of a matrix product's kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/copied_matrix.hpp"
#include "weft/gemm/epilogue_store.hpp"
#include "weft/gemm/gemm_policy.hpp"
#include "weft/gemm/kernel/kernel.hpp"
#include "weft/gemm/kernel/traits.hpp"
#include "weft/gemm/kernel_list.hpp"
#include "weft/gemm/loaded_operand.hpp"
#include "weft/gemm/matrix_operand.hpp"
#include "weft/gemm/mma_sm75.hpp"
#include "weft/gemm/mma_sm80.hpp"
#include "weft/gemm/simt.hpp"
#include "weft/gemm/simt_async.hpp"
#include "weft/gemm/tile_grid.hpp"
#include "weft/gemm/turned_matrices.hpp"
#include "weft/gemm/wgmma_store.hpp"
#include "weft/gemm/widened_matrix.hpp"

namespace weft::gemm {

// The schedulers of a policy's products.
template <class PolicyT, class Grid>
struct GemmSchedule {
  using Scheduler = std::conditional_t<kGrouped<PolicyT>, GroupGrid<Grid>, BatchedGrid<Grid>>;
  using Output = OutputParams<PolicyT, MatrixRows>;
};
template <class PolicyT, class Grid>
using GemmGrid = typename GemmSchedule<PolicyT, Grid>::Scheduler;

template <class PolicyT>
struct GemmParams {
  typename GemmGrid<PolicyT, TileGrid>::Params schedule;
  LoadedParams<LoadOf<PolicyT, true>> a;
  LoadedParams<LoadOf<PolicyT, false>> b;
  OutputParams<PolicyT, MatrixRows> output;
  std::int32_t slices = 0;
};

// The same with the wgmma_sm90 mainloop.
template <class PolicyT>
struct WgmmaGemmParams {
  // What all threads read first, side by side: a kernel's parameters are not in any cache when it starts.
  MbarRingParams ring;
  std::int32_t slices = 0;
  std::int32_t tiles = 0;
  std::int32_t early = 0;
  typename GemmGrid<PolicyT, BandedTileGrid>::Params schedule;
  CopiedMatrixParams a, b;
  OutputParams<PolicyT, MatrixRows> output;
  WgmmaPlan plan;
};

// What a kernel of Listed<PolicyT> reads of one product. Made on the host, the same bytes for both back ends, but
// for the tensor maps.
template <class PolicyT>
struct ListedProduct {
  static constexpr bool kWgmma = CheckedGemmPolicy<PolicyT>::kWgmma;
  using Grid = std::conditional_t<kWgmma, BandedTileGrid, TileGrid>;
  template <bool kIsA>
  using Operand =
      std::conditional_t<kWgmma, CopiedMatrixParams, LoadedParams<LoadOf<PolicyT, kIsA>>>;
  typename Grid::Params grid;
  std::int32_t first_tile = 0;  // of all products', where its own begin
  std::int32_t slices = 0;
  Operand<true> a;
  Operand<false> b;
  OutputParams<PolicyT, MatrixRows> output;
};
template <class PolicyT>
using ListOf = ListGrid<typename ListedProduct<PolicyT>::Grid, ListedProduct<PolicyT>>;

template <class PolicyT, class Grid>
struct GemmSchedule<Listed<PolicyT>, Grid> {
  using Scheduler = ListOf<PolicyT>;
  using Output = OutputParams<PolicyT, MatrixRows>;
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

// The mainloop that a policy's config means.
template <class PolicyT, Mainloop mainloop = CheckedGemmPolicy<PolicyT>::kMainloop>
using GemmMainloop = std::conditional_t<
    mainloop == Mainloop::kSimt, SimtMainloop<PolicyT>,
    std::conditional_t<
        mainloop == Mainloop::kSimtAsync,
        SimtAsyncMainloop<PolicyT, kLinesOfA<PolicyT>, kLinesOfB<PolicyT>>,
        std::conditional_t<
            mainloop == Mainloop::kMmaSm75, MmaSm75Mainloop<PolicyT, false, true>,
            MmaSm80Mainloop<PolicyT, true, false, false,
                            sizeof(typename PolicyT::Element) < 4 || kLinesOfA<PolicyT>,
                            sizeof(typename PolicyT::Element) < 4 || kLinesOfB<PolicyT>>>>>;

// What gemm::KernelOf makes a kernel of. PolicyT: a GEMM policy.
template <class PolicyT, bool kWhole>
struct GemmParts : PartsTraits {
  using Params = GemmParams<PolicyT>;
  using Scheduler = GemmGrid<PolicyT, TileGrid>;
  using Mainloop = GemmMainloop<PolicyT>;
  using Pipeline = typename Mainloop::Pipeline;
  template <class Rows, bool kLines>
  using OperandOf =
      typename decltype(LoadedOperandOf<Mainloop, PolicyT, kLines, kWhole,
                                        kGrouped<PolicyT> &&
                                            Rows::kIsA>::template Select<Rows>())::type;
  using OperandA = OperandOf<RowsOfA, kLinesOfA<PolicyT>>;
  using OperandB = OperandOf<typename Mainloop::ColumnsOfB, kLinesOfB<PolicyT>>;

  struct Destination {
    using DstLayout = MatrixFormat<typename PolicyT::LayoutC>;
    using Epilogue = typename PolicyT::Epilogue;
    static constexpr auto config = PolicyT::config;
  };
  using Output = typename GemmSchedule<PolicyT, TileGrid>::Output;
  using Stored = WithDependentLaunch<Destination, Pipeline, OperandA, OperandB>;
  using Epilogue = DirectStore<Stored, Output, typename Mainloop::Map>;

  // Operands that do not run along k take more, a slice in flight or address arithmetic, and so
  // does looking where lines end, or groups, or for a residual of floats; and what a list has for each
  // product does not lie in constant memory.
  static constexpr int kRegisters = [] {
    constexpr bool kLines = kLinesOfA<PolicyT> && kLinesOfB<PolicyT>,
                   kCross = !kLinesOfA<PolicyT> && !kLinesOfB<PolicyT>;
    constexpr bool kConverts = kLoads<LoadOf<PolicyT, true>> || kLoads<LoadOf<PolicyT, false>>;
    constexpr int kOwn = Mainloop::Registers(0);
    if (PolicyT::config.registers > 0) return kOwn;
    if (CheckedGemmPolicy<PolicyT>::kMainloop == gemm::Mainloop::kMmaSm80) {
      if (sizeof(typename PolicyT::Element) >= 4) return kOwn;  // copied as they lie
      if (kConverts && kCross) return kOwn * 3 / 2 < 248 ? kOwn * 3 / 2 : 248;
      return kLines && !kConverts && !kListed<PolicyT> ? kOwn : kOwn * 5 / 4;
    }
    constexpr bool kResidual =
        PolicyT::Epilogue::kHasResidual && sizeof(typename PolicyT::Element) >= 4;
    return kOwn == 128 && (kCross || !kWhole || kGrouped<PolicyT> || kListed<PolicyT> || kResidual)
               ? 168
               : kOwn;
  }();
  // For a residual ptxas takes more before sm_90; blocks of few threads find room for it.
  static constexpr int kRegistersBefore90 =
      PolicyT::Epilogue::kHasResidual && kRegisters == 128 && Mainloop::kThreads <= 128
          ? 160
          : kRegisters;
};

template <class Element>
inline constexpr arch::WgmmaType kWgmmaTypeOf =
    std::is_same_v<Element, std::int8_t>    ? arch::WgmmaType::kS8
    : std::is_same_v<Element, std::uint8_t> ? arch::WgmmaType::kS8U8  // its first operand is B
    : std::is_same_v<Element, Half>         ? arch::WgmmaType::kF16
    : std::is_same_v<Element, Bfloat16>     ? arch::WgmmaType::kBf16
    : std::is_same_v<Element, Float8E4m3>   ? arch::WgmmaType::kE4m3
    : std::is_same_v<Element, Float8E5m2>   ? arch::WgmmaType::kE5m2
                                            : arch::WgmmaType::kTf32;

template <class PolicyT>
struct WgmmaGemmParts : PartsTraits {
  using Params = WgmmaGemmParams<PolicyT>;
  using Scheduler = GemmGrid<PolicyT, BandedTileGrid>;
  static constexpr bool kWidensA = CheckedGemmPolicy<PolicyT>::kWgmmaWidensA;
  static constexpr bool kWidensB = CheckedGemmPolicy<PolicyT>::kWgmmaWidensB;
  static constexpr int kLineOfB =
      WidenedLineBytes(PolicyT::config.threadblock.k, kOperandBits<PolicyT, false>);  // if kWidensB
  static_assert(!kWidensB || !kLinesOfB<PolicyT> || IsWidenedLine(kLineOfB),
                "weft: config.threadblock.k of a wgmma_sm90 GEMM with LoadB is as many elements as "
                "are 32, 64 or 128 bytes of B");
  struct Spec : WgmmaSpec {
    static constexpr arch::WgmmaType kType = kWgmmaTypeOf<typename PolicyT::Element>;
    static constexpr bool kRowsAcross = !kLinesOfA<PolicyT> && !kTurned<PolicyT>;
    static constexpr bool kColumnsAcross = !kLinesOfB<PolicyT> && !kTurned<PolicyT> && !kWidensB;
    static constexpr bool kFills = kTurned<PolicyT> || kWidensA;
    // Three warps turned bytes more slowly than two, of which each has more on its way (docs/log/mixed_products.md).
    static constexpr int kFillWarps = kWidensA ? 3 : kFills ? 2 : 1;
    static constexpr int kFillRegisters = sizeof(typename PolicyT::Element) == 4           ? 40
                                          : kWidensA || PolicyT::config.blocks_per_sm == 2 ? 56
                                                                                           : 72;
    using HeldColumns = std::conditional_t<
        !kWidensB, void,
        std::conditional_t<
            kLinesOfB<PolicyT>,
            WidenedLines<LoadOf<PolicyT, false>, IsWidenedLine(kLineOfB) ? kLineOfB : 128>,
            WidenedAcross<LoadOf<PolicyT, false>>>>;
  };
  using Mainloop = WgmmaSm90Mainloop<PolicyT, Spec>;
  using Pipeline = typename Mainloop::Pipeline;
  static constexpr TileShape kTile = PolicyT::config.threadblock;
  static constexpr int kElementBytes = sizeof(typename PolicyT::Element);
  // If Spec::kFills.
  using Filler = std::conditional_t<
      kWidensA, WidenMatrix<Mainloop, LoadOf<PolicyT, true>, kTile.m * kTile.k / kWidenedLine>,
      TurnMatrices<Mainloop, kElementBytes, !kLinesOfA<PolicyT>, !kLinesOfB<PolicyT>>>;
  static_assert(!kWidensA || (kTile.k == kWidenedLine &&
                              (kLinesOfA<PolicyT> || kTile.m % kWidenedLine == 0)),
                "weft: config.threadblock.k of a wgmma_sm90 GEMM with LoadA is 64, and where A is "
                "column-major config.threadblock.m is a multiple of 64");
  static_assert(
      !kTurned<PolicyT> || kTile.k == TurnedBox(kElementBytes),
      "weft: config.threadblock.k of a wgmma_sm90 GEMM of Tf32 is 32, and of bytes 128, where k "
      "does not run along both operands");
  static_assert(2 * (MatrixSliceBytes(kTile.m, kTile.k, kElementBytes, kLinesOfA<PolicyT>) +
                     (kWidensA ? NarrowBytes(kTile.m * kTile.k, kOperandBits<PolicyT, true>) : 0) +
                     (kWidensB ? NarrowBytes(kTile.n * kTile.k, kOperandBits<PolicyT, false>)
                               : MatrixSliceBytes(kTile.n, kTile.k, kElementBytes,
                                                  kLinesOfB<PolicyT>))) <=
                    Mainloop::kStageBytes,
                "weft: two slices of config.threadblock of a wgmma_sm90 GEMM do not fit in shared "
                "memory; make config.threadblock.k smaller");
  static_assert((kLinesOfA<PolicyT> && kLinesOfB<PolicyT>) || (kTile.k <= 256 && kTile.k % 8 == 0),
                "weft: where k does not run along memory, config.threadblock.k of a wgmma_sm90 "
                "GEMM is a multiple of 8, at most 256");
  // Rows and columns across k that are widened are counted in bytes.
  static constexpr int kRowsOfA = kWidensA && !kLinesOfA<PolicyT>
                                      ? Mainloop::kBlockM * kOperandBits<PolicyT, true> / 8
                                      : Mainloop::kBlockM;
  using OperandA = CopiedMatrixOperand<RowsOfA, kRowsOfA, kLinesOfA<PolicyT>, kGrouped<PolicyT>>;
  static constexpr int kColumnsOfB = kWidensB && !kLinesOfB<PolicyT>
                                         ? Mainloop::kBlockN * kOperandBits<PolicyT, false> / 8
                                         : Mainloop::kBlockN;
  using OperandB = CopiedMatrixOperand<RowsOfB, kColumnsOfB, kLinesOfB<PolicyT>, false>;
  struct Destination {
    using DstLayout = MatrixFormat<typename PolicyT::LayoutC>;
    using Epilogue = typename PolicyT::Epilogue;
    static constexpr auto config = PolicyT::config;
  };
  using Output = typename GemmSchedule<PolicyT, BandedTileGrid>::Output;
  using Epilogue = WgmmaStore<Destination, Output, Mainloop>;
  static constexpr int kRegisters = Mainloop::kStartRegisters;
};

template <class PolicyT>
requires MatrixPolicy<PolicyT>
struct KernelList<PolicyT> {
  // 0: a line's k are a multiple of config.alignment.src bytes; 1: they are not, which matters
  // where k runs along memory in accesses of several elements.
  static constexpr int kCount = 2;
  static constexpr bool kAlong = kLinesOfA<PolicyT> || kLinesOfB<PolicyT>;
  static constexpr bool kCut = kAlong &&
                               PolicyT::config.alignment.src >
                                   static_cast<int>(sizeof(typename PolicyT::Element)) &&
                               CheckedGemmPolicy<PolicyT>::kMainloop != gemm::Mainloop::kSimtAsync
                               && !CheckedGemmPolicy<PolicyT>::kWgmma;
  template <int i>
  static constexpr bool kExists = i == 0 || kCut;
  template <int i>
  using Kernel = KernelOf<std::conditional_t<CheckedGemmPolicy<PolicyT>::kWgmma,
                                             WgmmaGemmParts<PolicyT>, GemmParts<PolicyT, i == 0>>>;
};

template <class PolicyT>
using GemmKernel = typename KernelList<PolicyT>::template Kernel<0>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
