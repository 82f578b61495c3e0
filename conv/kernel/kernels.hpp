// The parts of an operator's kernels: which operands, mainloop and epilogue a policy has, depending
// on its source layout and filter format.
#pragma once

#include <type_traits>

#include "weft/conv/depthwise/depthwise.hpp"
#include "weft/conv/hopper/gathered_operands.hpp"
#include "weft/conv/hopper/padding_transform.hpp"
#include "weft/conv/hopper/sliding_window_operands.hpp"
#include "weft/conv/hopper/tma_operands.hpp"
#include "weft/conv/source/im2col_iterators.hpp"
#include "weft/conv/source/kernel_params.hpp"
#include "weft/gemm/epilogue/epilogue_store.hpp"
#include "weft/gemm/hopper/wgmma_type.hpp"
#include "weft/gemm/kernel/kernel.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/gemm/mainloop/mma_sm75.hpp"
#include "weft/gemm/mainloop/mma_sm80.hpp"
#include "weft/gemm/mainloop/simt.hpp"
#include "weft/gemm/operand/int4_blocks.hpp"
#include "weft/gemm/staged/wgmma_store.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::conv {

// Packed filters as a source of gemm::AffineIterator. Format: a CheckedPolicy. kKMajor: KRSC, whose
// rows are K-major over (r, s, c); else CxRSKx<x>.
template <class Format>
struct FilterSource {
  using Params = FilterParams;
  static constexpr bool kKMajor = Format::kNhwc, kWhole = true, kRegular = true;
  static constexpr int kUnitBytes = Format::kUnitChannels * Format::kFilterBits / 8;
  static constexpr std::int64_t RowBytes(const Params& p) {
    return kKMajor ? p.row_bytes : kUnitBytes;
  }
  static constexpr std::int64_t StepBytes(const Params& p) {
    return static_cast<std::int64_t>(p.padded_k) * kUnitBytes;
  }
  static constexpr std::int32_t End(const Params& p) {
    // Rows of int4 end with whole blocks.
    if (kKMajor && Format::kInt4) return static_cast<std::int32_t>(p.row_bytes);
    return p.units * (kKMajor ? kUnitBytes : 1);
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

// The iterator over source pixels for a SourceKind, in pieces as Shape has them.
template <class Shape, class Format, SourceKind kind>
using SourceIterator =
    std::conditional_t<kind == SourceKind::kPointwise,
                       gemm::AffineIterator<Shape, PointwiseSource<Format>>,
                       std::conditional_t<kind == SourceKind::kTaps, TapIterator<Shape, Format>,
                                          Im2colIterator<Shape, Format>>>;

// The shape in which Mma reads pieces of kPieceBytes along k. Where units of k are smaller than what
// an instruction of tensor cores multiplies of a row, several of them make it up.
template <class Mma, class Rows, class PolicyT, int kPieceBytes>
struct UnitShape {
  using Checked = CheckedPolicy<PolicyT>;
  static constexpr bool kSmall = !Checked::kSimt && !Checked::kNhwc && Checked::kUnitBytes < 32;
  using type =
      std::conditional_t<kSmall, gemm::MmaKMajor<Mma, Rows, kPieceBytes, Checked::kUnitBytes>,
                         typename Mma::template KMajor<Rows, kPieceBytes>>;
};

// Operand A of Mma: the source as it is in memory, or changed on its way to shared memory (values of
// 4 bits, a source functor).
template <class Mma, class PolicyT, SourceKind kind>
constexpr auto ChooseSourceOperand() {
  using Checked = CheckedPolicy<PolicyT>;
  using Shape = typename UnitShape<Mma, gemm::RowsOfA, PolicyT, Checked::kSrcPiece>::type;
  if constexpr (kChangesSource<PolicyT>) {
    using InMemory = gemm::ShapeInMemory<Shape, Checked::kSrcBits, 8>;
    using Iterator = SourceIterator<InMemory, Checked, kind>;
    return std::type_identity<
        gemm::StagedOperand<Shape, Iterator, SourceTransform<Shape, Iterator, PolicyT>>>();
  } else {
    return std::type_identity<
        gemm::CopiedOperand<Mma, Shape, SourceIterator<Shape, Checked, kind>>>();
  }
}
template <class Mma, class PolicyT, SourceKind kind>
using SourceOperand = typename decltype(ChooseSourceOperand<Mma, PolicyT, kind>())::type;

// Operand B of Mma: the filter as it is in memory. A filter of int4 whose products are of bytes is
// upcast: in fragments where cp.async copies it, else on its way to shared memory.
template <class Mma, class PolicyT>
constexpr auto ChooseFilterOperand() {
  using Checked = CheckedPolicy<PolicyT>;
  using Source = FilterSource<Checked>;
  using Columns = typename Mma::ColumnsOfB;
  constexpr int kPiece = Checked::kSrcPiece < 16 ? Checked::kSrcPiece : 16;
  if constexpr (Checked::kInt4 && !Checked::kInt4Products) {
    using Shape = typename Mma::template Int4Blocks<Columns, Source::kKMajor>;
    using Iterator = gemm::AffineIterator<Shape, Source>;
    return std::type_identity<
        std::conditional_t<Mma::Pipeline::kAsync, gemm::CpAsyncOperand<Shape, Iterator>,
                           gemm::UpcastInt4Operand<Shape, Source>>>();
  } else if constexpr (std::is_same_v<typename Checked::FilterLayout, CxRSKx<4>>) {
    using Shape = typename Mma::template MnMajor<Columns, 16>;
    return std::type_identity<
        gemm::CopiedOperand<Mma, Shape, gemm::AffineIterator<Shape, Source>>>();
  } else {
    using Shape = typename UnitShape<Mma, Columns, PolicyT, kPiece>::type;
    return std::type_identity<
        gemm::CopiedOperand<Mma, Shape, gemm::AffineIterator<Shape, Source>>>();
  }
}
template <class Mma, class PolicyT>
using FilterOperand = typename decltype(ChooseFilterOperand<Mma, PolicyT>())::type;

// What tensor cores are told of a convolution's operands. Where products are of int4, a filter of
// int4 is not upcast. mma_sm75 finds int8 in its stages, and upcasts no filter either.
template <class PolicyT>
struct ConvOperands : gemm::MmaOperands {
  using Checked = CheckedPolicy<PolicyT>;
  static constexpr bool kPairs = Checked::kInt4Products;
  static constexpr bool kInt4B =
      Checked::kMainloop == gemm::Mainloop::kMmaSm80 && Checked::kInt4 && !kPairs;
};

// The mainloop that a policy's config names.
template <class PolicyT, gemm::Mainloop mainloop = CheckedPolicy<PolicyT>::kMainloop>
using MainloopFor =
    std::conditional_t<mainloop == gemm::Mainloop::kSimt, gemm::SimtMainloop<PolicyT>,
                       std::conditional_t<mainloop == gemm::Mainloop::kMmaSm75,
                                          gemm::MmaSm75Mainloop<PolicyT, ConvOperands<PolicyT>>,
                                          gemm::MmaSm80Mainloop<PolicyT, ConvOperands<PolicyT>>>>;

// What gemm::KernelOf makes a kernel of, for all mainloops but wgmma_sm90. PolicyT: a conv::Policy.
template <class PolicyT, SourceKind kind>
struct Parts : gemm::PartsTraits {
  using Checked = CheckedPolicy<PolicyT>;
  using Params = KernelParams<PolicyT, kind>;
  using Scheduler = BatchGrid<typename PolicyT::Prologue>;
  using Mainloop = MainloopFor<PolicyT>;
  using Pipeline = typename Mainloop::Pipeline;

  using OperandA = SourceOperand<Mainloop, PolicyT, kind>;
  using OperandB = FilterOperand<Mainloop, PolicyT>;
  using Stored = gemm::WithDependentLaunch<PolicyT, Pipeline, OperandA, OperandB>;
  using Epilogue = gemm::DirectStore<Stored, decltype(Params::output), typename Mainloop::Map>;

  // The limit on registers covers what an iterator keeps for each pixel, and an epilogue's
  // residual, for which ptxas takes a quarter more before sm_90.
  static constexpr bool kResidual = PolicyT::Epilogue::kHasResidual &&
                                    PolicyT::config.registers == 0 &&
                                    Checked::kMainloop == gemm::Mainloop::kMmaSm80;
  static constexpr int kOwn = Mainloop::Registers(Checked::kNhwc                ? 1
                                                  : kind == SourceKind::kIm2col ? 2
                                                                                : 0);
  static constexpr int kWithResidual = kResidual && kOwn < 128 ? 128 : kOwn;
  // An auxiliary output has addresses of its own, and a source that is converted waits in
  // registers.
  static constexpr bool kMore = (kChangesSource<PolicyT> || PolicyT::Epilogue::kHasCopy ||
                                 PolicyT::Epilogue::kHasRange || PolicyT::Epilogue::kHasSums) &&
                                PolicyT::config.registers == 0;
  static constexpr int kRegisters = !kMore                ? kWithResidual
                                    : kWithResidual < 224 ? kWithResidual + 32
                                                          : 255;
  static constexpr int kRegistersBefore90 = kResidual ? kRegisters * 5 / 4 : kRegisters;
};

// What a convolution tells the wgmma_sm90 mainloop, whichever way its operands are loaded. A struct
// for each of these ways inherits it, and names Params, OperandA and OperandB.
template <class PolicyT>
struct ConvWgmmaSpec : gemm::WgmmaSpec {
  using Checked = CheckedPolicy<PolicyT>;
  using Tile = BatchTile<typename PolicyT::Prologue>;
  static constexpr arch::WgmmaType kType = gemm::WgmmaTypeOf<typename PolicyT::Element>::value;
  static constexpr gemm::ColumnOrder kOrder =
      Checked::kNhwc || Checked::kInt4 ? gemm::ColumnOrder::kPlain : gemm::ColumnOrder::kPermuted;
  using RegisterFragments = std::conditional_t<Checked::kInt4, gemm::Int4BlockColumns, void>;
};

// TMA loads both operands.
template <class PolicyT>
struct TmaConvolution : ConvWgmmaSpec<PolicyT> {
  static constexpr bool kTransforms = kTransformsPadding<PolicyT>;
  static constexpr bool kMayPackRows = !CheckedPolicy<PolicyT>::kInt4;
  using Params = WgmmaParams<PolicyT>;
  template <class Mma>
  using OperandA = gemm::TmaOperand<TmaSourceIterator<PolicyT, Mma>>;
  template <class Mma>
  using OperandB = gemm::TmaOperand<TmaFilterIterator<PolicyT, Mma>>;
};

// Over NHWC whose rows begin where TMA cannot read: producer threads load both operands.
template <class PolicyT>
struct GatheredConvolution : ConvWgmmaSpec<PolicyT> {
  using typename ConvWgmmaSpec<PolicyT>::Tile;
  template <class Shape>
  using Producer = gemm::GatherProducer<Shape>;
  using Params = GatherParams<typename PolicyT::Prologue, typename PolicyT::Epilogue>;
  template <class Mma>
  using OperandA = gemm::GatheredOperand<GatheredSource<Mma, Tile>>;
  template <class Mma>
  using OperandB = gemm::GatheredOperand<GatheredFilter<Mma, Tile>>;
};

// Over NCxHWx<4>, a first layer: a sliding-window operand, and a filter that stays in shared memory.
template <class PolicyT>
struct FirstLayerConvolution : ConvWgmmaSpec<PolicyT> {
  using typename ConvWgmmaSpec<PolicyT>::Tile;
  static constexpr gemm::ColumnOrder kOrder = gemm::ColumnOrder::kPaired;
  template <class Shape>
  using Producer = gemm::FirstLayerProducer<Shape>;
  static constexpr int kWindows = PolicyT::config.threadblock.m / PolicyT::config.warp.m,
                       kRows = PolicyT::config.warp.m / 8;
  using Windows =
      std::conditional_t<PolicyT::Epilogue::kHasPool, SlidingWindowStrips<kRows, kWindows>,
                         SlidingWindows<kRows, kWindows>>;
  using Params = FirstLayerParams<typename PolicyT::Prologue, typename PolicyT::Epilogue, Windows>;
  template <class Mma>
  using OperandA = SlidingWindowOperand<Mma, Tile, Windows>;
  template <class Mma>
  using OperandB = ResidentFilter<Mma>;
};

// The parts of a kernel with the wgmma_sm90 mainloop. SpecT: one of the three above.
template <class PolicyT, class SpecT>
struct WgmmaParts : gemm::PartsTraits {
  using Spec = SpecT;
  using Params = typename Spec::Params;
  using Scheduler = BatchGrid<typename PolicyT::Prologue>;
  using Mainloop = gemm::WgmmaSm90Mainloop<PolicyT, Spec>;
  using OperandA = typename Spec::template OperandA<Mainloop>;
  using OperandB = typename Spec::template OperandB<Mainloop>;
  using StageTransform = PaddingTransform<PolicyT, Mainloop>;  // if Spec::kTransforms
  using Output = decltype(Params::output);
  using Epilogue = gemm::WgmmaStore<PolicyT, Output, Mainloop>;
  using Pipeline = gemm::RingOf<Mainloop, Epilogue>;
  // Bytes of k in the widest chunk: whatever the problem, the plan finds room for two stages of it.
  static constexpr int kWidest = CheckedPolicy<PolicyT>::kNhwc ? 128 : 32;
  static_assert(Mainloop::Producer::kFirstLayer ||
                    2 * kWidest * (Mainloop::kBlockM + Mainloop::kBlockN) <= Pipeline::kStageBytes,
                "weft: two stages of config.threadblock of wgmma_sm90 do not fit in shared memory");
  static constexpr int kRegisters = Mainloop::kStartRegisters;
};

}  // namespace WEFT_BACKEND

// Whether PolicyT has a kernel for a SourceKind.
template <class PolicyT, SourceKind kind>
inline constexpr bool kHasKernel =
    gemm::kOneKernel ? kind == SourceKind::kIm2col
    : kind == SourceKind::kTaps
        ? CheckedPolicy<PolicyT>::kMainloop == gemm::Mainloop::kMmaSm80 &&
              !CheckedPolicy<PolicyT>::kNhwc && !kConvertsSource<PolicyT>
        : kind == SourceKind::kIm2col || CheckedPolicy<PolicyT>::kBlockUnits == 1;

inline namespace WEFT_BACKEND {

// The kernels of a policy, one specialisation for each kind of them: how many there are, whether kernel i
// exists, and what it is. A launch has the parameters Params<i>, of which a kind has kParams types.
template <class PolicyT, Kind kind = KindOf<PolicyT>>
struct KernelsOf;

// One for each SourceKind.
template <class PolicyT>
struct KernelsOf<PolicyT, Kind::kMultistage> {
  static constexpr int kCount = PolicyT::Epilogue::kHasPool ? 0 : 3, kParams = 3;
  template <int i>
  static constexpr bool kExists = kHasKernel<PolicyT, SourceKind(i)>;
  template <int i>
  using Params = KernelParams<PolicyT, SourceKind(i)>;
  template <int i>
  using Kernel = gemm::KernelOf<Parts<PolicyT, SourceKind(i)>>;
};

template <class PolicyT, class SpecT>
struct WgmmaKernels {
  // There is no kernel with a SourceFunctor: MakeConvPlan refuses one for wgmma_sm90, and a MaxPool for all but a
  // first layer.
  static constexpr bool kPools =
      PolicyT::Epilogue::kHasPool && !CheckedPolicy<PolicyT>::kFirstLayer;
  static constexpr int kCount = kConvertsSource<PolicyT> || kPools ? 0 : 1, kParams = 1;
  template <int i>
  static constexpr bool kExists = true;
  template <int i>
  using Params = typename SpecT::Params;
  template <int i>
  using Kernel = gemm::KernelOf<WgmmaParts<PolicyT, SpecT>>;
};
template <class PolicyT>
struct KernelsOf<PolicyT, Kind::kTma> : WgmmaKernels<PolicyT, TmaConvolution<PolicyT>> {};
template <class PolicyT>
struct KernelsOf<PolicyT, Kind::kFirstLayer>
    : WgmmaKernels<PolicyT, FirstLayerConvolution<PolicyT>> {};
template <class PolicyT>
struct KernelsOf<PolicyT, Kind::kGather> : WgmmaKernels<PolicyT, GatheredConvolution<PolicyT>> {};

// One for each of kDepthwiseShapes.
template <class PolicyT>
struct KernelsOf<PolicyT, Kind::kDepthwise> {
  static constexpr int kCount = kDepthwiseKernels, kParams = 1;
  template <int i>
  static constexpr bool kExists = i == 0 || !gemm::kOneKernel;
  template <int i>
  using Params = DepthwiseParams<typename PolicyT::Epilogue>;
  template <int i>
  using Kernel = DepthwiseKernel<PolicyT, i>;
};

template <class PolicyT, int i>
using Kernel = typename KernelsOf<PolicyT>::template Kernel<i>;

}  // namespace WEFT_BACKEND
}  // namespace weft::conv

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class PolicyT>
  requires conv::HasTypes<PolicyT>
struct KernelList<PolicyT> : conv::KernelsOf<PolicyT> {};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
