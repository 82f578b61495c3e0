// The parts of an operator's kernels: how each source layout and filter format is an operand.
#pragma once

#include <type_traits>

#include "weft/conv/copied_operands.hpp"
#include "weft/conv/depthwise.hpp"
#include "weft/conv/kernel_params.hpp"
#include "weft/conv/padding_fill.hpp"
#include "weft/conv/strip_operands.hpp"
#include "weft/gemm/epilogue_store.hpp"
#include "weft/gemm/int4_operand.hpp"
#include "weft/gemm/kernel_list.hpp"
#include "weft/gemm/mma_sm75.hpp"
#include "weft/gemm/mma_sm80.hpp"
#include "weft/gemm/simt.hpp"
#include "weft/gemm/tile_kernel.hpp"
#include "weft/gemm/wgmma_store.hpp"

namespace weft::conv {

// Packed filters as a source of gemm::AffineWalk. Format: a CheckedPolicy. kAlong: KRSC, rows along
// which (r, s, c) runs; if not, CxRSKx<x>.
template <class Format>
struct FilterSource {
  using Params = FilterParams;
  static constexpr bool kAlong = Format::kNhwc, kWhole = true, kRegular = true;
  static constexpr int kUnitBytes = Format::kUnitChannels * Format::kFilterBits / 8;
  static constexpr std::int64_t RowBytes(const Params& p) {
    return kAlong ? p.row_bytes : kUnitBytes;
  }
  static constexpr std::int64_t StepBytes(const Params& p) {
    return static_cast<std::int64_t>(p.padded_k) * kUnitBytes;
  }
  static constexpr std::int32_t End(const Params& p) {
    // Rows of int4 end with whole blocks.
    if (kAlong && Format::kInt4) return static_cast<std::int32_t>(p.row_bytes);
    return p.units * (kAlong ? kUnitBytes : 1);
  }
  static constexpr std::int32_t First(const Params&) { return 0; }
  template <class Tile>
  static constexpr const void* Data(const Params& p, const Tile& tile) {
    return p.Data(tile);
  }
  template <class Tile>
  static constexpr gemm::RowPlace Row(const Params& p, const Tile&, std::int32_t k) {
    return {k * RowBytes(p), k < p.padded_k};
  }
};

inline namespace WEFT_BACKEND {

// Source pixels, in pieces as Shape wants them.
template <class Shape, class Format, SourceKind kind>
using SourceWalk =
    std::conditional_t<kind == SourceKind::kPointwise,
                       gemm::AffineWalk<Shape, PointwiseSource<Format>>,
                       std::conditional_t<kind == SourceKind::kTaps, TapWalk<Shape, Format>,
                                          Im2colWalk<Shape, Format>>>;

// As they are, or changed on their way.
template <class Shape, class P, SourceKind kind, bool kChanged = kChangesSource<P>>
struct SourceOperand {
  using Checked = CheckedPolicy<P>;
  using Walk = SourceWalk<ShapeInMemory<Shape, Checked::kSrcBits>, Checked, kind>;
  using type = ConvertedOperand<Shape, Walk, P>;
};
template <class Shape, class P, SourceKind kind>
struct SourceOperand<Shape, P, kind, false> {
  using type = gemm::GatherOperand<Shape, SourceWalk<Shape, CheckedPolicy<P>, kind>>;
};

// Filters: the pieces of FilterLayout as M wants them.
template <class M, class P, class Source, class Format = typename P::FilterLayout>
struct FilterOperand {
  static constexpr int kPiece = CheckedPolicy<P>::kSrcPiece;
  using Shape = typename M::template Along < typename M::ColumnsOfB, kPiece<16 ? kPiece : 16>;
  using type = gemm::AffineOperand<Shape, Source>;
};
template <class M, class P, class Source>
struct FilterOperand<M, P, Source, CxRSKx<4>> {
  using Shape = typename M::template Across<typename M::ColumnsOfB, 16>;
  using type = gemm::AffineOperand<Shape, Source>;
};
template <class M, class P, class Source>
struct FilterOperand<M, P, Source, PackedInt4<CxRSKx<64>>>
    : FilterOperand<M, P, Source, CxRSKx<32>> {};  // as bytes, of two
template <class M, class P, class Source, class Format>
struct FilterOperand<M, P, Source, PackedInt4<Format>> {
  using Shape = typename M::template Int4Blocks<typename M::ColumnsOfB, Source::kAlong>;
  using Walk = gemm::AffineWalk<Shape, Source>;
  using type = std::conditional_t<Shape::kCells == 2, gemm::Int4Operand<Shape, Walk>,
                                  gemm::GatherOperand<Shape, Walk>>;
};

// The mainloop that a policy's config means.
template <class P, gemm::Mainloop mainloop = CheckedPolicy<P>::kMainloop>
using MainloopFor = std::conditional_t<
    mainloop == gemm::Mainloop::kSimt, gemm::SimtMainloop<P>,
    std::conditional_t<
        mainloop == gemm::Mainloop::kMmaSm75,
        gemm::MmaSm75Mainloop<P, CheckedPolicy<P>::kInt4Products>,
        gemm::MmaSm80Mainloop<P, false, CheckedPolicy<P>::kInt4 && !CheckedPolicy<P>::kInt4Products,
                              CheckedPolicy<P>::kInt4Products>>>;

// The parts of gemm::TileKernel. P: a conv::Policy.
template <class P, SourceKind kind>
struct Parts {
  using Checked = CheckedPolicy<P>;
  using Params = KernelParams<P, kind>;
  using Scheduler = BatchGrid<typename P::Prologue>;
  using Mainloop = MainloopFor<P>;
  using Pipeline = typename Mainloop::Pipeline;

  using SourceShape = typename Mainloop::template Along<gemm::RowsOfA, Checked::kSrcPiece>;
  using OperandA = typename SourceOperand<SourceShape, P, kind>::type;
  using OperandB = typename FilterOperand<Mainloop, P, FilterSource<Checked>>::type;
  using Stored = gemm::WithDependentLaunch<P, Pipeline, OperandA, OperandB>;
  using Epilogue = gemm::DirectStore<Stored, decltype(Params::output), typename Mainloop::Map>;

  // What a walk keeps for each pixel, and an epilogue of a residual; for the latter ptxas takes
  // more before sm_90.
  static constexpr bool kResidual = P::Epilogue::kHasResidual && P::config.registers == 0 &&
                                    Checked::kMainloop == gemm::Mainloop::kMmaSm80;
  static constexpr int kOwn = Mainloop::Registers(Checked::kNhwc                ? 1
                                                  : kind == SourceKind::kIm2col ? 2
                                                                                : 0);
  static constexpr int kWithResidual = kResidual && kOwn < 128 ? 128 : kOwn;
  // A second output has addresses of its own, and a source that changes waits in registers.
  static constexpr bool kMore = (kChangesSource<P> || P::Epilogue::kHasCopy ||
                                 P::Epilogue::kHasRange || P::Epilogue::kHasSums) &&
                                P::config.registers == 0;
  static constexpr int kRegisters = !kMore                ? kWithResidual
                                    : kWithResidual < 224 ? kWithResidual + 32
                                                          : 255;
  static constexpr int kRegistersBefore90 = kResidual ? kRegisters * 5 / 4 : kRegisters;
};

// The same with the wgmma_sm90 mainloop; over NCxHWx<4>, of strips.
template <class P>
struct WgmmaParts {
  using Checked = CheckedPolicy<P>;
  static constexpr bool kStrips = Checked::kStrips;
  using Params = std::conditional_t<kStrips, StripParams<P>, WgmmaParams<P>>;
  using Scheduler = BatchGrid<typename P::Prologue>;
  struct Spec {
    static constexpr arch::WgmmaType kType =
        Checked::kUnsigned ? arch::WgmmaType::kS8U8 : arch::WgmmaType::kS8;
    static constexpr bool kRowsAcross = false, kColumnsAcross = false;
    static constexpr gemm::ColumnOrder kOrder = kStrips ? gemm::ColumnOrder::kPaired
                                                : Checked::kNhwc || Checked::kInt4
                                                    ? gemm::ColumnOrder::kPlain
                                                    : gemm::ColumnOrder::kPermuted;
    static constexpr bool kResident = kStrips;
    static constexpr bool kFills = !kStrips && kFillsPadding<P>;
    static constexpr bool kStacks = !kStrips && !Checked::kInt4;
    using HeldColumns = std::conditional_t<Checked::kInt4, gemm::Int4BlockColumns, void>;
  };
  using Mainloop = gemm::WgmmaSm90Mainloop<P, Spec>;
  // Whatever the problem, the plan finds room for two stages of the widest chunk.
  static constexpr int kWidest = Checked::kNhwc ? 128 : 32;
  static_assert(kStrips ||
                    2 * kWidest * (Mainloop::kBlockM + Mainloop::kBlockN) <= Mainloop::kStageBytes,
                "weft: two stages of config.threadblock of wgmma_sm90 do not fit in shared memory");
  using Pipeline = typename Mainloop::Pipeline;
  using OperandA =
      std::conditional_t<kStrips, StripSource<Mainloop, BatchTile<typename P::Prologue>>,
                         CopiedSource<P, Mainloop>>;
  using OperandB = std::conditional_t<kStrips, ResidentFilter<Mainloop>, CopiedFilter<P, Mainloop>>;
  using Filler = PaddingFill<P, Mainloop>;  // if Spec::kFills
  using Output = decltype(Params::output);
  using Epilogue = gemm::WgmmaStore<P, Output, Mainloop>;
  static constexpr int kRegisters = Mainloop::kStartRegisters;
};

// Kernel i of an operator: one for each SourceKind, or for each of kDepthwiseShapes.
template <class P, int i, bool kDepthwise = CheckedPolicy<P>::kDepthwise>
struct KernelAt {
  using type = gemm::TileKernel<
      std::conditional_t<CheckedPolicy<P>::kWgmma, WgmmaParts<P>, Parts<P, SourceKind(i)>>>;
};
template <class P, int i>
struct KernelAt<P, i, true> {
  using type = DepthwiseKernel<P, i>;
};
template <class P, int i>
using Kernel = typename KernelAt<P, i>::type;

}  // namespace WEFT_BACKEND

// Whether there is a kernel for a SourceKind.
template <class P, SourceKind kind>
inline constexpr bool kHasKernel =
    kind == SourceKind::kTaps ? CheckedPolicy<P>::kMainloop == gemm::Mainloop::kMmaSm80 &&
                                    !CheckedPolicy<P>::kNhwc && !kConvertsSource<P>
                              : kind == SourceKind::kIm2col || CheckedPolicy<P>::kBlockUnits == 1;

}  // namespace weft::conv

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class P>
requires conv::HasTypes<P>
struct KernelList<P> {
  using Checked = conv::CheckedPolicy<P>;
  // MakeGeometry refuses a SourceFunctor of wgmma_sm90.
  static constexpr int kCount = Checked::kDepthwise ? conv::kDepthwiseKernels
                                : Checked::kWgmma   ? (conv::kConvertsSource<P> ? 0 : 1)
                                                    : 3;
  template <int i>
  static constexpr bool kExists = Checked::kDepthwise || conv::kHasKernel<P, conv::SourceKind(i)>;
  template <int i>
  using Kernel = conv::Kernel<P, i>;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
