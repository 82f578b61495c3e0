// The parts of a matrix product's kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/copied_matrix.hpp"
#include "weft/gemm/epilogue_store.hpp"
#include "weft/gemm/gemm_policy.hpp"
#include "weft/gemm/kernel_list.hpp"
#include "weft/gemm/loaded_operand.hpp"
#include "weft/gemm/matrix_operand.hpp"
#include "weft/gemm/mma_sm75.hpp"
#include "weft/gemm/mma_sm80.hpp"
#include "weft/gemm/simt.hpp"
#include "weft/gemm/simt_async.hpp"
#include "weft/gemm/stream.hpp"
#include "weft/gemm/tile_kernel.hpp"
#include "weft/gemm/turned_matrices.hpp"
#include "weft/gemm/wgmma_store.hpp"
#include "weft/gemm/widened_matrix.hpp"

namespace weft::gemm {

// The schedulers of a policy's products.
template <class P, class Grid>
struct GemmSchedule {
  using Scheduler = std::conditional_t<kGrouped<P>, GroupGrid<Grid>, BatchedGrid<Grid>>;
  using Output = OutputParams<P, MatrixRows>;
};
template <class P, class Grid>
using GemmGrid = typename GemmSchedule<P, Grid>::Scheduler;

template <class P>
struct GemmParams {
  typename GemmGrid<P, TileGrid>::Params schedule;
  LoadedParams<LoadOf<P, true>> a;
  LoadedParams<LoadOf<P, false>> b;
  OutputParams<P, MatrixRows> output;
  std::int32_t slices = 0;
};

// The same with the wgmma_sm90 mainloop.
template <class P>
struct WgmmaGemmParams {
  // What all threads read first, side by side: a kernel's parameters are not in any cache when it starts.
  MbarRingParams ring;
  std::int32_t slices = 0;
  std::int32_t tiles = 0;
  std::int32_t early = 0;
  typename GemmGrid<P, BandedTileGrid>::Params schedule;
  CopiedMatrixParams a, b;
  OutputParams<P, MatrixRows> output;
  WgmmaPlan plan;
};

// What a kernel of Listed<P> reads of one product. Made on the host, the same bytes for both back ends, but
// for the tensor maps.
template <class P>
struct ListedProduct {
  static constexpr bool kWgmma = CheckedGemmPolicy<P>::kWgmma;
  using Grid = std::conditional_t<kWgmma, BandedTileGrid, TileGrid>;
  template <bool kIsA>
  using Operand = std::conditional_t<kWgmma, CopiedMatrixParams, LoadedParams<LoadOf<P, kIsA>>>;
  typename Grid::Params grid;
  std::int32_t first_tile = 0;  // of all products', where its own begin
  std::int32_t slices = 0;
  Operand<true> a;
  Operand<false> b;
  OutputParams<P, MatrixRows> output;
};
template <class P>
using ListOf = ListGrid<typename ListedProduct<P>::Grid, ListedProduct<P>>;

template <class P, class Grid>
struct GemmSchedule<Listed<P>, Grid> {
  using Scheduler = ListOf<P>;
  using Output = OutputParams<P, MatrixRows>;
};

template <class P>
struct GemmParams<Listed<P>> {
  typename ListOf<P>::Params schedule;
};
template <class P>
struct WgmmaGemmParams<Listed<P>> {
  MbarRingParams ring;
  std::int32_t tiles = 0;
  std::int32_t early = 0;
  typename ListOf<P>::Params schedule;
  WgmmaPlan plan;
};

// The same with config.stream.
template <class P>
struct StreamedGemmParams : WgmmaGemmParams<P> {
  StreamParams stream;
};
template <class P>
using WgmmaGemmParamsOf =
    std::conditional_t<kStreamed<P>, StreamedGemmParams<P>, WgmmaGemmParams<P>>;

inline namespace WEFT_BACKEND {

// The mainloop that a policy's config means.
template <class P, Mainloop mainloop = CheckedGemmPolicy<P>::kMainloop>
using GemmMainloop = std::conditional_t<
    mainloop == Mainloop::kSimt, SimtMainloop<P>,
    std::conditional_t<
        mainloop == Mainloop::kSimtAsync, SimtAsyncMainloop<P, kLinesOfA<P>, kLinesOfB<P>>,
        std::conditional_t<
            mainloop == Mainloop::kMmaSm75, MmaSm75Mainloop<P, false, true>,
            MmaSm80Mainloop<P, true, false, false, sizeof(typename P::Element) < 4 || kLinesOfA<P>,
                            sizeof(typename P::Element) < 4 || kLinesOfB<P>>>>>;

// The parts of gemm::TileKernel. P: a GEMM policy.
template <class P, bool kWhole>
struct GemmParts {
  using Params = GemmParams<P>;
  using Scheduler = GemmGrid<P, TileGrid>;
  using Mainloop = GemmMainloop<P>;
  using Pipeline = typename Mainloop::Pipeline;
  template <class Rows, bool kLines>
  using OperandOf =
      typename decltype(LoadedOperandOf<Mainloop, P, kLines, kWhole,
                                        kGrouped<P> && Rows::kIsA>::template Select<Rows>())::type;
  using OperandA = OperandOf<RowsOfA, kLinesOfA<P>>;
  using OperandB = OperandOf<typename Mainloop::ColumnsOfB, kLinesOfB<P>>;

  struct Destination {
    using DstLayout = MatrixFormat<typename P::LayoutC>;
    using Epilogue = typename P::Epilogue;
    static constexpr auto config = P::config;
  };
  using Output = typename GemmSchedule<P, TileGrid>::Output;
  using Stored = WithDependentLaunch<Destination, Pipeline, OperandA, OperandB>;
  using Epilogue = DirectStore<Stored, Output, typename Mainloop::Map>;

  // Operands that do not run along k take more, a slice in flight or address arithmetic, and so
  // does looking where lines end, or groups, or for a residual of floats; and what a list has for each
  // product does not lie in constant memory.
  static constexpr int kRegisters = [] {
    constexpr bool kLines = kLinesOfA<P> && kLinesOfB<P>, kCross = !kLinesOfA<P> && !kLinesOfB<P>;
    constexpr bool kConverts = kLoads<LoadOf<P, true>> || kLoads<LoadOf<P, false>>;
    constexpr int kOwn = Mainloop::Registers(0);
    if (P::config.registers > 0) return kOwn;
    if (CheckedGemmPolicy<P>::kMainloop == gemm::Mainloop::kMmaSm80) {
      if (sizeof(typename P::Element) >= 4) return kOwn;  // copied as they lie
      if (kConverts && kCross) return kOwn * 3 / 2 < 248 ? kOwn * 3 / 2 : 248;
      return kLines && !kConverts && !kListed<P> ? kOwn : kOwn * 5 / 4;
    }
    constexpr bool kResidual = P::Epilogue::kHasResidual && sizeof(typename P::Element) >= 4;
    return kOwn == 128 && (kCross || !kWhole || kGrouped<P> || kListed<P> || kResidual) ? 168
                                                                                        : kOwn;
  }();
  // For a residual ptxas takes more before sm_90; blocks of few threads find room for it.
  static constexpr int kRegistersBefore90 =
      P::Epilogue::kHasResidual && kRegisters == 128 && Mainloop::kThreads <= 128 ? 160
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

template <class P>
struct WgmmaGemmParts {
  using Params = WgmmaGemmParamsOf<P>;
  using Scheduler = GemmGrid<P, BandedTileGrid>;
  static constexpr bool kWidensA = CheckedGemmPolicy<P>::kWgmmaWidensA;
  static constexpr bool kWidensB = CheckedGemmPolicy<P>::kWgmmaWidensB;
  static constexpr int kLineOfB =
      WidenedLineBytes(P::config.threadblock.k, kOperandBits<P, false>);  // if kWidensB
  static_assert(!kWidensB || !kLinesOfB<P> || IsWidenedLine(kLineOfB),
                "weft: config.threadblock.k of a wgmma_sm90 GEMM with LoadB is as many elements as "
                "are 32, 64 or 128 bytes of B");
  struct Spec {
    static constexpr arch::WgmmaType kType = kWgmmaTypeOf<typename P::Element>;
    static constexpr bool kRowsAcross = !kLinesOfA<P> && !kTurned<P>;
    static constexpr bool kColumnsAcross = !kLinesOfB<P> && !kTurned<P> && !kWidensB;
    static constexpr bool kFills = kTurned<P> || kWidensA;
    // Three warps turned bytes more slowly than two, of which each has more on its way (docs/performance.md).
    static constexpr int kFillWarps = kWidensA ? 3 : kFills ? 2 : 1;
    static constexpr int kFillRegisters = sizeof(typename P::Element) == 4           ? 40
                                          : kWidensA || P::config.blocks_per_sm == 2 ? 56
                                                                                     : 72;
    static constexpr ColumnOrder kOrder = ColumnOrder::kPlain;
    using HeldColumns = std::conditional_t<
        !kWidensB, void,
        std::conditional_t<kLinesOfB<P>,
                           WidenedLines<LoadOf<P, false>, IsWidenedLine(kLineOfB) ? kLineOfB : 128>,
                           WidenedAcross<LoadOf<P, false>>>>;
  };
  using Mainloop = WgmmaSm90Mainloop<P, Spec>;
  using Pipeline = typename Mainloop::Pipeline;
  static constexpr TileShape kTile = P::config.threadblock;
  static constexpr int kElementBytes = sizeof(typename P::Element);
  // If Spec::kFills.
  using Filler =
      std::conditional_t<kWidensA,
                         WidenMatrix<Mainloop, LoadOf<P, true>, kTile.m * kTile.k / kWidenedLine>,
                         TurnMatrices<Mainloop, kElementBytes, !kLinesOfA<P>, !kLinesOfB<P>>>;
  static_assert(!kWidensA ||
                    (kTile.k == kWidenedLine && (kLinesOfA<P> || kTile.m % kWidenedLine == 0)),
                "weft: config.threadblock.k of a wgmma_sm90 GEMM with LoadA is 64, and where A is "
                "column-major config.threadblock.m is a multiple of 64");
  static_assert(
      !kTurned<P> || kTile.k == TurnedBox(kElementBytes),
      "weft: config.threadblock.k of a wgmma_sm90 GEMM of Tf32 is 32, and of bytes 128, where k "
      "does not run along both operands");
  static_assert(2 * (MatrixSliceBytes(kTile.m, kTile.k, kElementBytes, kLinesOfA<P>) +
                     (kWidensA ? NarrowBytes(kTile.m * kTile.k, kOperandBits<P, true>) : 0) +
                     (kWidensB
                          ? NarrowBytes(kTile.n * kTile.k, kOperandBits<P, false>)
                          : MatrixSliceBytes(kTile.n, kTile.k, kElementBytes, kLinesOfB<P>))) <=
                    Mainloop::kStageBytes,
                "weft: two slices of config.threadblock of a wgmma_sm90 GEMM do not fit in shared "
                "memory; make config.threadblock.k smaller");
  static_assert((kLinesOfA<P> && kLinesOfB<P>) || (kTile.k <= 256 && kTile.k % 8 == 0),
                "weft: where k does not run along memory, config.threadblock.k of a wgmma_sm90 "
                "GEMM is a multiple of 8, at most 256");
  // Rows and columns across k that are widened are counted in bytes.
  static constexpr int kRowsOfA =
      kWidensA && !kLinesOfA<P> ? Mainloop::kBlockM * kOperandBits<P, true> / 8 : Mainloop::kBlockM;
  using OperandA = CopiedMatrixOperand<RowsOfA, kRowsOfA, kLinesOfA<P>, kGrouped<P>>;
  static constexpr int kColumnsOfB = kWidensB && !kLinesOfB<P>
                                         ? Mainloop::kBlockN * kOperandBits<P, false> / 8
                                         : Mainloop::kBlockN;
  using OperandB = CopiedMatrixOperand<RowsOfB, kColumnsOfB, kLinesOfB<P>, false>;
  struct Destination {
    using DstLayout = MatrixFormat<typename P::LayoutC>;
    using Epilogue = typename P::Epilogue;
    static constexpr auto config = P::config;
  };
  using Output = typename GemmSchedule<P, BandedTileGrid>::Output;
  using Epilogue = WgmmaStore<Destination, Output, Mainloop>;
  static constexpr int kRegisters = Mainloop::kStartRegisters;
};

template <class P>
requires MatrixPolicy<P>
struct KernelList<P> {
  // 0: a line's k are a multiple of config.alignment.src bytes; 1: they are not, which matters
  // where k runs along memory in accesses of several elements.
  static constexpr int kCount = 2;
  static constexpr bool kAlong = kLinesOfA<P> || kLinesOfB<P>;
  static constexpr bool kCut = kAlong &&
                               P::config.alignment.src >
                                   static_cast<int>(sizeof(typename P::Element)) &&
                               CheckedGemmPolicy<P>::kMainloop != gemm::Mainloop::kSimtAsync &&
                               !CheckedGemmPolicy<P>::kWgmma;
  template <int i>
  static constexpr bool kExists = i == 0 || kCut;
  template <int i>
  using Kernel = TileKernel<
      std::conditional_t<CheckedGemmPolicy<P>::kWgmma, WgmmaGemmParts<P>, GemmParts<P, i == 0>>>;
};

template <class P>
using GemmKernel = typename KernelList<P>::template Kernel<0>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
