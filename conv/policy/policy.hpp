// What a user writes to define an operator: a policy struct.
//
//     struct MyConv {
//       using Element = std::int8_t;
//       using SrcLayout = weft::NCxHWx<4>;
//       using FilterLayout = weft::CxRSKx<4>;
//       using DstLayout = weft::NCxHWx<32>;
//       using Prologue = weft::prologues::SharedFilter;
//       using Epilogue = weft::epilogues::BiasHSwish<>;
//       static constexpr auto config = weft::conv::kSimt128x128;
//     };
//
// config is one of gemm/tile/config.hpp or conv/policy/depthwise_config.hpp: m counts output pixels
// (N P Q), n output channels (K), k the inputs of an output (C R S). alignment.src, in bytes, is 4
// for NCxHWx<4>, one pixel of one channel block; 16 for NCxHWx<32>; and 16, 8 or 4 for NHWC.
//
// Every member is required. A policy may also have a SourceFunctor
// (conv/policy/source_functor.hpp). A file of policies needs no other header than this, which
// includes neither Abseil nor CUDA.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/policy/depthwise_config.hpp"
#include "weft/conv/policy/kind.hpp"
#include "weft/conv/policy/source_functor.hpp"
#include "weft/epilogues/chain.hpp"
#include "weft/gemm/tile/config.hpp"
#include "weft/layouts/element/element_traits.hpp"
#include "weft/layouts/formats.hpp"
#include "weft/layouts/packed_int4.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::conv {

using gemm::Alignment;
using gemm::MmaSm75Config;
using gemm::MmaSm80Config;
using gemm::SimtConfig;
using gemm::TileDescription;
using gemm::WgmmaSm90Config;
using gemm::WithClusterSplitK;
using gemm::WithDstAlignment;
using gemm::WithPackedRows;
using gemm::WithPingPong;
using gemm::WithRegisters;
using gemm::WithSrcAlignment;
// The constants of the table of tiles are names of weft::conv as well.
#define WEFT_NAMED_TILE(type, constant, ...) using gemm::constant;
#include "weft/gemm/tile/tiles.def"

template <class PolicyT>
concept HasTypes = requires {
  typename PolicyT::Element;
  typename PolicyT::SrcLayout;
  typename PolicyT::FilterLayout;
  typename PolicyT::DstLayout;
  typename PolicyT::Prologue;
  typename PolicyT::Epilogue;
};

template <class PolicyT>
concept HasConfig = requires {
  PolicyT::config;
  requires gemm::Config<std::remove_cvref_t<decltype(PolicyT::config)>>;
};

namespace internal {

// The bytes of one store, the bits of one output value, and how many channels are adjacent in
// DstLayout (0: all of them, so that Create checks the run against K). They are template parameters
// so that a compiler prints them with the message.
template <int kAlignmentDst, int kElementBits, int kChannelRun>
struct CheckedDstAlignment {
  static_assert(
      8 * kAlignmentDst % kElementBits == 0 &&
          (kChannelRun == 0 || kChannelRun * kElementBits % (8 * kAlignmentDst) == 0),
      "weft: config.alignment.dst does not fit DstLayout: it must be whole elements and "
      "divide the bytes of the channels that lie side by side there; give the policy "
      "WithDstAlignment(config, bytes), where an output of 1 byte takes up to 4 in "
      "NCxHWx<4>, 16 in NCxHWx<32> and NHWC, 1 in NCHW, and wider ones as many times more");
  static constexpr bool kValid = true;
};

template <class OutputStage>
inline constexpr bool kClampsToInt4 = false;
template <class Type, int kLow, int kHigh, epilogues::Rounding kRounding>
inline constexpr bool kClampsToInt4<epilogues::ClampTo<Type, kLow, kHigh, kRounding>> =
    weft::internal::FitsInt4(static_cast<Type>(kLow)) &&
    weft::internal::FitsInt4(static_cast<Type>(kHigh));

// The mainloops of a convolution, as bits: which of them multiply an element type, and which read a
// source layout with a filter format.
namespace operands {
inline constexpr unsigned kSimt = 1 << 0;
inline constexpr unsigned kMmaSm75 = 1 << 1;
inline constexpr unsigned kMmaSm80 = 1 << 2;
inline constexpr unsigned kWgmmaSm90 = 1 << 3;
inline constexpr unsigned kDepthwise = 1 << 4;
// Of a config's mainloop; of one that multiplies no convolutions none.
constexpr unsigned BitOf(gemm::Mainloop mainloop) {
  switch (mainloop) {
    case gemm::Mainloop::kSimt:
      return kSimt;
    case gemm::Mainloop::kMmaSm75:
      return kMmaSm75;
    case gemm::Mainloop::kMmaSm80:
      return kMmaSm80;
    case gemm::Mainloop::kWgmmaSm90:
      return kWgmmaSm90;
    default:
      return 0;
  }
}
template <class Element>
inline constexpr unsigned kMultipliedBy = 0;
template <class SrcLayout, class FilterLayout>
inline constexpr unsigned kReadBy = 0;
#define WEFT_MULTIPLIES(element, mainloops) \
  template <>                               \
  inline constexpr unsigned kMultipliedBy<element> = mainloops;
#define WEFT_OPERANDS(source, filter, mainloops) \
  template <>                                    \
  inline constexpr unsigned kReadBy<source, filter> = mainloops;
#include "weft/conv/policy/operands.def"
}  // namespace operands

// The layouts are template parameters so that a compiler prints them with the message.
template <class SrcLayout, class FilterLayout, unsigned kMainloop>
struct CheckedOperands {
  static constexpr bool kNchw = std::is_same_v<SrcLayout, NCHW>;
  static_assert(!kNchw,
                "weft: no mainloop reads SrcLayout = NCHW; weft::ConvertTensor<weft::NCHW, "
                "weft::NHWC>, or to NCxHWx<32> or <4>, makes a source that one reads");
  static constexpr bool kValid = (operands::kReadBy<SrcLayout, FilterLayout> & kMainloop) != 0;
  static_assert(
      kValid || kNchw,
      "weft: the mainloop of this policy's config does not read its SrcLayout with its "
      "FilterLayout; the rows of conv/policy/operands.def say which pairs each mainloop "
      "reads. Where wgmma_sm90 does not read values of 4 bits, an MmaSm80Config does, or a "
      "SimtConfig in NCxHWx<4>; weft::PackDepthwiseFilter writes KRSx4x4");
};

template <class ResidualStage>
inline constexpr bool kSameAsDst =
    std::is_same_v<typename ResidualStage::Layout, epilogues::SameAsDst>;
template <>
inline constexpr bool kSameAsDst<void> = false;

// The bit of a config's mainloop.
template <class ConfigT>
inline constexpr unsigned kMainloopBit =
    std::is_same_v<ConfigT, DepthwiseConfig> ? operands::kDepthwise
                                             : operands::BitOf(ConfigT::kMainloop);
template <class PolicyT>
using ConfigOf = std::remove_cvref_t<decltype(PolicyT::config)>;

// What of a policy is right, each with all before it: nothing behind a mistake can be checked.
template <class PolicyT>
concept HasMembers = HasTypes<PolicyT> && HasConfig<PolicyT>;
template <class PolicyT>
concept HasFormats = HasMembers<PolicyT> && TensorFormat<typename PolicyT::SrcLayout> &&
                     TensorFormat<typename PolicyT::DstLayout>;
template <class PolicyT>
concept HasFilterFormat = HasFormats<PolicyT> && FilterFormat<typename PolicyT::FilterLayout>;
template <class PolicyT>
concept HasChain =
    HasFilterFormat<PolicyT> && epilogues::IsChain<typename PolicyT::Epilogue>::value;
template <class PolicyT>
concept HasConvolved =
    HasChain<PolicyT> && PolicyT::Epilogue::kValid && kMainloopBit<ConfigOf<PolicyT>> != 0;
template <class PolicyT>
concept HasElement =
    HasConvolved<PolicyT> &&
    (operands::kMultipliedBy<typename PolicyT::Element> & kMainloopBit<ConfigOf<PolicyT>>) != 0;
template <class PolicyT>
concept HasPrologue =
    HasElement<PolicyT> && prologues::CheckedPrologue<typename PolicyT::Prologue>::kValid;
// The config and the prologue of depthwise convolutions go together.
template <class PolicyT>
concept HasItsPrologue =
    HasPrologue<PolicyT> && std::is_same_v<ConfigOf<PolicyT>, DepthwiseConfig> ==
                                std::is_same_v<typename PolicyT::Prologue, prologues::Depthwise>;
template <class PolicyT>
concept HasOperands = HasItsPrologue<PolicyT> &&
                      CheckedOperands<typename PolicyT::SrcLayout, typename PolicyT::FilterLayout,
                                      kMainloopBit<ConfigOf<PolicyT>>>::kValid;

}  // namespace internal

// Instantiating this type checks a policy; each failure is one sentence. Everything that takes a
// policy goes through it. What follows a wrong policy is a gemm::RefusedOperator
// (gemm/check/refused.hpp), because kValid is false here; the specialisation below checks what of a
// policy may be wrong while all else can be compiled. The mainloop checks its config itself (conv/kernel/kernels.hpp).
template <class PolicyT>
struct CheckedPolicy {
  static_assert(
      requires { typename PolicyT::Element; },
      "weft: this convolution policy has no type Element: std::int8_t or std::uint8_t");
  static_assert(
      requires { typename PolicyT::SrcLayout; },
      "weft: this convolution policy has no type SrcLayout: the tensor format of src, such as "
      "weft::NCxHWx<32>");
  static_assert(
      requires { typename PolicyT::FilterLayout; },
      "weft: this convolution policy has no type FilterLayout: the filter format, such as "
      "weft::CxRSKx<32>");
  static_assert(
      requires { typename PolicyT::DstLayout; },
      "weft: this convolution policy has no type DstLayout: the tensor format of dst, such as "
      "weft::NCxHWx<32>");
  static_assert(
      requires { typename PolicyT::Prologue; },
      "weft: this convolution policy has no type Prologue: weft::prologues::SharedFilter, "
      "unless outputs have different filters");
  static_assert(
      requires { typename PolicyT::Epilogue; },
      "weft: this convolution policy has no type Epilogue: a weft::epilogues::Chain<stages...>");
  static_assert(
      HasConfig<PolicyT>,
      "weft: a convolution policy needs `static constexpr auto config`, a SimtConfig, "
      "MmaSm75Config, MmaSm80Config or WgmmaSm90Config such as weft::conv::kSimt64x64, or "
      "a DepthwiseConfig");
  static_assert(
      !internal::HasMembers<PolicyT> || internal::HasFormats<PolicyT>,
      "weft: SrcLayout and DstLayout are tensor formats (NCxHWx<x>, NHWC, NCHW; DstLayout "
      "also a PairedInt4)");
  static_assert(!internal::HasFormats<PolicyT> || internal::HasFilterFormat<PolicyT>,
                "weft: FilterLayout is a filter format (CxRSKx<x>, KRSC, KCRS, or a PackedInt4 of "
                "CxRSKx<x> or KRSC)");
  static_assert(!internal::HasFilterFormat<PolicyT> || internal::HasChain<PolicyT>,
                "weft: Epilogue is a weft::epilogues::Chain<stages...>");
  // A Chain that is wrong has said so itself.
  static constexpr bool kSoundChain = [] {
    if constexpr (internal::HasChain<PolicyT>) return PolicyT::Epilogue::kValid;
    return false;
  }();
  static_assert(!kSoundChain || internal::HasConvolved<PolicyT>,
                "weft: the simt_async mainloop multiplies matrices of float and double; "
                "convolutions take a SimtConfig, MmaSm75Config, MmaSm80Config or WgmmaSm90Config");
  static_assert(!internal::HasConvolved<PolicyT> || internal::HasElement<PolicyT>,
                "weft: convolutions multiply Element = std::int8_t, or std::uint8_t, by filters of "
                "std::int8_t; the rows of conv/policy/operands.def say which types each mainloop "
                "multiplies");
  static_assert(!internal::HasPrologue<PolicyT> || internal::HasItsPrologue<PolicyT>,
                "weft: prologues::Depthwise goes with a DepthwiseConfig such as "
                "weft::conv::kDepthwise32, and a DepthwiseConfig with prologues::Depthwise; other "
                "groups of channels are prologues::Grouped");
  static constexpr bool kValid = false;
};

template <class PolicyT>
  requires(internal::HasOperands<PolicyT>)
struct CheckedPolicy<PolicyT> {
  static constexpr auto config = PolicyT::config;
  using Epilogue = typename PolicyT::Epilogue;
  static constexpr gemm::Mainloop kMainloop = decltype(config)::kMainloop;

  using Element = typename PolicyT::Element;
  using FilterElement = typename ElementTraits<Element>::OfB;
  using Sum = typename ElementTraits<Element>::Sum;
  static_assert(gemm::kNamesNoOtherSum<PolicyT, Sum> &&
                    gemm::kNamesNoOtherFilter<PolicyT, FilterElement>,
                "weft: Sum or FilterElement of a convolution, where a policy has it, is the type "
                "that its Element has anyway: of std::int8_t and std::uint8_t std::int32_t and "
                "std::int8_t; leave it out");
  static constexpr bool kUnsigned = std::is_unsigned_v<Element>;
  static constexpr bool kIntegerSums = std::is_integral_v<Sum>;
  static constexpr int kElementBytes = sizeof(Element);
  // Filters of int4 have the blocks of the format whose elements they pack.
  static constexpr bool kInt4 = kIsInt4<typename PolicyT::FilterLayout>;
  static constexpr int kFilterBits = kInt4 ? 4 : 8 * static_cast<int>(sizeof(FilterElement));
  using FilterLayout = UnpackedFormat<typename PolicyT::FilterLayout>;
  // Sources of 4 bits become bytes on their way to shared memory, unless tensor cores multiply them
  // as they are (kInt4Products).
  static constexpr bool kInt4Source = kIsInt4<typename PolicyT::SrcLayout>;
  static constexpr int kSrcBits = kInt4Source ? 4 : 8 * kElementBytes;
  using SrcLayout = UnpackedFormat<typename PolicyT::SrcLayout>;
  static constexpr bool kInt4Products =
      kInt4Source && kInt4 && std::is_same_v<FilterLayout, CxRSKx<64>>;
  static constexpr bool kExpandsSource = kInt4Source && !kInt4Products;
  // Bits of a value in a stage.
  static constexpr int kStageBits = kInt4Products ? 4 : 8 * kElementBytes;
  static constexpr bool kSimt = kMainloop == gemm::Mainloop::kSimt;
  // Channels last: k is a run of channels of one pixel, in memory as in the sum.
  static constexpr bool kNhwc = SrcLayout::kChannelRun == 0;
  static constexpr Kind kKind =
      std::is_same_v<std::remove_cvref_t<decltype(config)>, DepthwiseConfig> ? Kind::kDepthwise
      : kMainloop != gemm::Mainloop::kWgmmaSm90                              ? Kind::kMultistage
      : SrcLayout::kInterleave == 4                                          ? Kind::kFirstLayer
      : kNhwc && config.alignment.src == 8                                   ? Kind::kGather
                                                                             : Kind::kTma;
  static constexpr bool kDepthwise = kKind == Kind::kDepthwise;
  static constexpr bool kWgmma = IsWgmma(kKind);
  static constexpr bool kFirstLayer = kKind == Kind::kFirstLayer;
  // TMA reads blocks of 32 bytes, by its interleave (conv/plan/wgmma_plan.cpp).
  static_assert(!kWgmma || kNhwc || SrcLayout::kInterleave == 4 ||
                    SrcLayout::kInterleave * kSrcBits == 8 * 32,
                "weft: the wgmma_sm90 mainloop reads channel blocks of 32 bytes, NHWC, and a first "
                "layer's NCxHWx<4>; other blocks take an MmaSm80Config");
  static_assert(
      kElementBytes == 1 ||
          (!kInt4 && !kInt4Source && !kFirstLayer && !kDepthwise && !kConvertsSource<PolicyT>),
      "weft: filters and sources of 4 bits, sliding-window operands, depthwise convolutions "
      "and SourceFunctors are of elements of one byte");

  static_assert(CheckedSourceFunctor<SourceFunctorOf<PolicyT>, typename PolicyT::Element>::kValid);
  static_assert(!kInt4Products || !kConvertsSource<PolicyT>,
                "weft: instructions of 4 bits read the source as it is, and a SourceFunctor makes "
                "bytes; give the policy FilterLayout PackedInt4<CxRSKx<32>>");
  static_assert(
      !kDepthwise || !kConvertsSource<PolicyT>,
      "weft: a DepthwiseConfig takes no SourceFunctor; convert in the epilogue of the layer "
      "before");

  // Outputs of 4 bits.
  static constexpr bool kPairs = kIsInt4<typename PolicyT::DstLayout>;
  static constexpr int kDstBits = static_cast<int>(
      weft::internal::kElementBits<typename PolicyT::DstLayout, typename Epilogue::Output>);
  static_assert(!kPairs || internal::kClampsToInt4<typename Epilogue::OutputStage>,
                "weft: a DstLayout of PairedInt4 holds 4 bits of a value: the Epilogue ends with "
                "ClampTo<std::int8_t, -8, 7> or ClampTo<std::uint8_t, 0, 15>");
  static_assert(!kPairs || (!kWgmma && !kDepthwise),
                "weft: the wgmma_sm90 mainloop and depthwise convolutions have no outputs of "
                "PairedInt4; give the policy a SimtConfig, MmaSm75Config or MmaSm80Config");
  static_assert(!kPairs || !internal::kSameAsDst<typename Epilogue::ResidualStage>,
                "weft: residuals are not of 4 bits: beside a DstLayout of PairedInt4, name the "
                "residual's format, Residual<std::int8_t, NCxHWx<64>>");

  static_assert(!Epilogue::kZeroPoints ||
                    std::is_same_v<typename PolicyT::Prologue, prologues::SharedFilter> ||
                    std::is_same_v<typename PolicyT::Prologue, prologues::PerPhase> ||
                    std::is_same_v<typename PolicyT::Prologue, prologues::Grouped> || kDepthwise,
                "weft: SourceZeroPoint and FilterZeroPoint go with the prologues SharedFilter, "
                "Grouped, PerPhase and Depthwise, whose filters are the same for all pixels and "
                "images");
  static_assert(!Epilogue::kHasPool ||
                    std::is_same_v<typename PolicyT::Prologue, prologues::SharedFilter>,
                "weft: an Epilogue with a MaxPool goes with prologues::SharedFilter");
  // kLargestProduct is the largest magnitude of a source value times a filter value, each less its
  // zero point; 0 where sums are floats, which do not overflow as integers do.
  static constexpr bool kWholeRange =
      kUnsigned || Epilogue::kSourceZeroPoint || Epilogue::kFilterZeroPoint;
  // mma_sm80 multiplies by an int4 in the upper bits of a byte, that is by 16 times its value.
  static constexpr bool kTimes16 = kInt4 && !kInt4Products && kMainloop == gemm::Mainloop::kMmaSm80;
  static constexpr std::int64_t kLargestProduct =
      !kIntegerSums
          ? 0
          : std::int64_t{kInt4Source ? (kWholeRange ? 15 : 8) : (kWholeRange ? 255 : 128)} *
                (Epilogue::kFilterZeroPoint ? 255
                 : kInt4 && !kTimes16       ? 8
                                            : 128);

  static_assert(
      !kSimt || config.alignment.src == 4 * kSrcBits / 8,
      "weft: config.alignment.src does not fit NCxHWx<4>: its channel blocks are 4 bytes, "
      "so 4 is the only choice; those of PairedInt4<NCxHWx<4>> are 2, so there it is 2");
  static_assert(!kFirstLayer || config.alignment.src == 4,
                "weft: config.alignment.src of wgmma_sm90 does not fit NCxHWx<4>, whose pixels are "
                "4 bytes; give the policy WithSrcAlignment(config, 4)");
  static_assert(!kDepthwise || config.alignment.src == 4,
                "weft: config.alignment.src of a DepthwiseConfig is 4, the channels of one thread");
  static_assert(
      kSimt || kDepthwise || kFirstLayer || config.alignment.src == 16 ||
          (kNhwc && (config.alignment.src == 8 || (!kWgmma && config.alignment.src == 4))),
      "weft: config.alignment.src of tensor-core mainloops is 16; for NHWC whose C is not a "
      "multiple of 16 it is 8, or with mma_sm80 4");
  static_assert(internal::CheckedDstAlignment<config.alignment.dst, kDstBits,
                                              PolicyT::DstLayout::kChannelRun>::kValid);

  // Bytes in a stage of what one access to the source loads: channels, or pairs of them in a byte.
  static constexpr int kSrcPiece = config.alignment.src * kStageBits / kSrcBits;
  // Kernels count k in units: one access of NHWC, or a channel block, of which each 32 bytes of a
  // stage are a unit where it has more. Here are the bytes of a unit in a stage, its bytes in the
  // source's memory, its channels, and how many units a channel block has.
  static constexpr int kBlockBytes = SrcLayout::kInterleave * kStageBits / 8;
  static constexpr int kUnitBytes = kNhwc ? kSrcPiece : kBlockBytes < 32 ? kBlockBytes : 32;
  static constexpr int kSrcUnitBytes = kUnitBytes * kSrcBits / kStageBits;
  static constexpr int kUnitChannels = kUnitBytes * 8 / kStageBits;
  static constexpr int kBlockUnits = kNhwc ? 1 : SrcLayout::kInterleave / kUnitChannels;
  static_assert(kDepthwise || kBlockUnits <= 2,
                "weft: a block of SrcLayout's channels takes at most 64 bytes of a stage");
  static_assert(
      kDepthwise || kNhwc || FilterLayout::kInterleave == kUnitChannels,
      "weft: a channel block of FilterLayout has the channels of one unit of k: 32 bytes of "
      "a stage, or a block of SrcLayout if it has fewer");
  static constexpr bool kValid = true;
};

template <class PolicyT>
concept Policy = CheckedPolicy<PolicyT>::kValid;

// The kind of PolicyT's kernels.
template <class PolicyT>
inline constexpr Kind KindOf = CheckedPolicy<PolicyT>::kKind;

}  // namespace weft::conv
