// What a user writes to define a depthwise convolution with the 1x1 convolution that follows it, as
// one operator (conv/depthwise_pointwise.hpp).
//
//     struct MyBlock {
//       using Element = std::int8_t;
//       using SrcLayout = weft::NCxHWx<32>;
//       using DstLayout = weft::NCxHWx<32>;
//       using DepthwiseEpilogue = weft::epilogues::BiasClamp<>;  // of the depthwise convolution
//       using Epilogue = weft::epilogues::BiasIdentity<>;        // of the 1x1 convolution
//       static constexpr auto config = weft::conv::kFused7x3x16;
//     };
//
// Every member is required. Like conv/policy/policy.hpp this header includes neither Abseil nor
// CUDA.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/conv/policy/depthwise_config.hpp"
#include "weft/conv/policy/policy.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::conv {

// A thread works on a patch: 4 channels of 4 adjacent output pixels, in `rows` rows one below the
// other, as in a DepthwiseConfig. A block has 4 patches in all channels, that is 16 * rows pixels.
// Its `warps` warps first divide the channels among them, 32 to each at a time, then the output
// channels, warp_n to each at a time: counts that divide both keep all warps busy.
//
// A block keeps 16 * rows bytes of each channel in shared memory, and its accumulators take rows *
// warp_n / 2 registers of a thread. Small images want few rows, so that there are enough blocks.
struct DepthwisePointwiseConfig {
  static constexpr gemm::Mainloop kMainloop = gemm::Mainloop::kOther;
  [[gnu::visibility("hidden")]] static constexpr char kName[] = "depthwise_pointwise";
  int rows;                   // 1 to 8; fewer at stride 2 and for 5x5 (DepthwiseShape)
  int warps;                  // of a block, 1 to 12
  int warp_n;                 // 16, or a multiple of 32; rows * warp_n is at most 128
  gemm::Alignment alignment;  // dst: bytes of at most 4 output channels, 8 if warp_n is not 16
  int registers = 0;          // a lower bound, of a thread; 12 warps have 168

  // dst_alignment: 4 bytes fit int8 outputs in every layout with 4 or more channels side by side.
  constexpr DepthwisePointwiseConfig(int row_count, int warp_count, int warp_channels,
                                     int dst_alignment = 4)
      : rows(row_count), warps(warp_count), warp_n(warp_channels), alignment{4, dst_alignment} {}
  // NOLINTNEXTLINE(runtime/explicit): a view of the same
  constexpr operator gemm::TileDescription() const {
    constexpr int kColumns = DepthwiseConfig::kColumns;
    return {.mainloop = kMainloop,
            .threadblock = {16 * rows, warps * warp_n, 32},
            .warp = {16 * rows, warp_n, 32},
            .thread = {rows * kColumns, 4, 4},
            .instruction = {16, 8, 32},
            .stages = 1,
            .alignment = alignment,
            .other = kName};
  }
};

// kFused7x3x16 and the other named rows of the table of tiles: rows x warps x warp_n.
#define WEFT_NAMED_TILE(...)
#define WEFT_NAMED_FUSED_TILE(type, constant, value, ...) \
  [[gnu::visibility("hidden")]] inline constexpr auto constant = value;
#include "weft/conv/policy/tiles.def"

// The filters and strides that have a kernel are kDepthwiseShapes[1] to [4]: 3x3 and 5x5, stride 1
// and 2.
inline constexpr int kFirstFusedShape = 1, kFusedShapes = 4;

template <class PolicyT>
concept IsDepthwisePointwise = requires {
  typename PolicyT::Element;
  typename PolicyT::SrcLayout;
  typename PolicyT::DstLayout;
  typename PolicyT::DepthwiseEpilogue;
  typename PolicyT::Epilogue;
  requires std::same_as<std::remove_cvref_t<decltype(PolicyT::config)>, DepthwisePointwiseConfig>;
};

// The depthwise convolution by itself. Its output has the layout that the 1x1 convolution reads.
template <class PolicyT>
struct DepthwiseHalf {
  using Element = typename PolicyT::Element;
  using SrcLayout = typename PolicyT::SrcLayout;
  using FilterLayout = KRSx4x4;
  using DstLayout = NCxHWx<32>;
  using Prologue = prologues::Depthwise;
  using Epilogue = typename PolicyT::DepthwiseEpilogue;
  // The lanes of a warp are 8 groups of 4 channels by 4 patches.
  static constexpr DepthwiseConfig config =
      DepthwiseConfig(PolicyT::config.rows, 8, 32, 4 * int{sizeof(typename Epilogue::Output)});
};

// The 1x1 convolution by itself.
template <class PolicyT>
struct PointwiseHalf {
  using Element = typename PolicyT::DepthwiseEpilogue::Output;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = CxRSKx<32>;
  using DstLayout = typename PolicyT::DstLayout;
  using Prologue = prologues::SharedFilter;
  using Epilogue = typename PolicyT::Epilogue;
  static constexpr gemm::MmaSm80Config config =
      gemm::WithDstAlignment(kMma64x64, PolicyT::config.alignment.dst);
};

// Whether the kernel is a dependent launch. It is, as those of the halves alone, unless there is a
// residual, whose loads would spill (gemm/operand/operand.hpp).
template <class PolicyT>
inline constexpr bool kDependentFused = !PolicyT::Epilogue::kHasResidual;

// The two halves as parts of one kernel, whose blocks have 16 * kRows pixels.
template <class PolicyT>
struct FusedDepthwise : DepthwiseHalf<PolicyT> {
  static constexpr bool kDependentLaunch = kDependentFused<PolicyT>;
};
template <class PolicyT, int kRows>
struct FusedPointwise : PointwiseHalf<PolicyT> {
  static constexpr bool kPredicatedStores = true;
  static constexpr bool kDependentLaunch = kDependentFused<PolicyT>;
  static constexpr gemm::MmaSm80Config config = gemm::MmaSm80Config(
      {16 * kRows, PolicyT::config.warps * PolicyT::config.warp_n, 32},
      {16 * kRows, PolicyT::config.warp_n, 32}, 3, PolicyT::config.alignment.dst);
};

namespace internal {

template <class PolicyT>
concept HasTwoChains = IsDepthwisePointwise<PolicyT> &&
                       epilogues::IsChain<typename PolicyT::DepthwiseEpilogue>::value &&
                       epilogues::IsChain<typename PolicyT::Epilogue>::value;
// Where one is wrong, it has said so itself.
template <class PolicyT>
concept HasSoundChains =
    HasTwoChains<PolicyT> && PolicyT::DepthwiseEpilogue::kValid && PolicyT::Epilogue::kValid;

}  // namespace internal

// Instantiating this type checks a policy; each failure is one sentence.
template <class PolicyT>
struct CheckedDepthwisePointwise {
  static_assert(IsDepthwisePointwise<PolicyT>,
                "weft: a policy of DepthwisePointwise needs the types Element, SrcLayout, "
                "DstLayout, DepthwiseEpilogue and Epilogue and a `static constexpr auto config`, a "
                "DepthwisePointwiseConfig such as weft::conv::kFused7x3x16; one is missing (see "
                "conv/policy/depthwise_pointwise_policy.hpp)");
  static_assert(!IsDepthwisePointwise<PolicyT> || internal::HasTwoChains<PolicyT>,
                "weft: DepthwiseEpilogue and Epilogue are weft::epilogues::Chain<stages...>");
  static constexpr bool kValid = false;
};

template <class PolicyT>
  requires(internal::HasSoundChains<PolicyT>)
struct CheckedDepthwisePointwise<PolicyT> {
  using First = typename PolicyT::DepthwiseEpilogue;
  using Second = typename PolicyT::Epilogue;
  static constexpr DepthwisePointwiseConfig config = PolicyT::config;

  static_assert(!kIsInt4<typename PolicyT::SrcLayout> && !kIsInt4<typename PolicyT::DstLayout>,
                "weft: DepthwisePointwise reads and writes no formats of int4");
  static_assert(std::is_same_v<typename First::Output, std::int8_t> ||
                    std::is_same_v<typename First::Output, std::uint8_t>,
                "weft: DepthwiseEpilogue ends in ClampTo<std::int8_t> or ClampTo<std::uint8_t>, "
                "which tensor cores multiply");
  static_assert(!First::kHasResidual && !First::kHasCopy && !First::kHasRange,
                "weft: the output of the depthwise convolution never reaches memory, so "
                "DepthwiseEpilogue has no Residual, Copy or ChannelRange");
  static_assert(!First::kHasSums && !Second::kHasSums,
                "weft: the epilogues of DepthwisePointwise have no ImageSums; run the two "
                "convolutions by themselves");
  static_assert(
      !First::kHasPool && !Second::kHasPool,
      "weft: the epilogues of DepthwisePointwise have no MaxPool, which is a stage of a first "
      "layer");
  static_assert(!Second::kZeroPoints,
                "weft: the Epilogue of DepthwisePointwise has no SourceZeroPoint and no "
                "FilterZeroPoint; a 1x1 convolution has no border, so SumBias takes the former");
  static_assert(
      gemm::kNamesNoOtherSum<PolicyT, std::int32_t> &&
          gemm::kNamesNoOtherFilter<PolicyT, std::int8_t>,
      "weft: DepthwisePointwise multiplies by std::int8_t and sums in std::int32_t; leave "
      "Sum and FilterElement out");
  static_assert(config.warps >= 1 && config.warps <= 12,
                "weft: config.warps of a DepthwisePointwiseConfig is 1 to 12");
  static_assert(config.rows * config.warp_n <= 128,
                "weft: config.rows * config.warp_n of a DepthwisePointwiseConfig is at most 128, "
                "for which a thread has registers");
  static constexpr bool kValid = CheckedPolicy<DepthwiseHalf<PolicyT>>::kValid &&
                                 CheckedPolicy<PointwiseHalf<PolicyT>>::kValid;
};

}  // namespace weft::conv
