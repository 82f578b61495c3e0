// Makes the facts (ConvFacts) of a policy of convolutions from its types and its kernel.
#pragma once

#include <type_traits>

#include "weft/conv/kernel/kernels.hpp"
#include "weft/conv/policy/facts.hpp"

namespace weft::conv {

template <class Epilogue>
constexpr PoolFacts PoolOf() {
  if constexpr (Epilogue::kHasPool) {
    using Pool = typename Epilogue::PoolStage;
    return PoolFacts{.size = Pool::kSize, .step = Pool::kStep, .padding = Pool::kPadding};
  } else {
    return {};
  }
}

template <class PolicyT>
constexpr ConvFacts FactsOf() {
  using Checked = CheckedPolicy<PolicyT>;
  using Prologue = typename PolicyT::Prologue;
  using Epilogue = typename PolicyT::Epilogue;
  using Dst = typename PolicyT::DstLayout;
  ConvFacts facts;
  gemm::AddTileFacts<PolicyT, Kernel<PolicyT, 0>>(facts);
  facts.searches_copies = Checked::kNhwc;
  facts.src_layout = PolicyT::SrcLayout::kName;
  facts.dst_layout = Dst::kName;
  facts.store.element_bits = Checked::kDstBits;
  // The structs are named because nvcc 13.0, in a template, hands an assignment from braces alone to
  // the host compiler without its members' names: values behind an omitted member go to wrong ones.
  facts.source = SourceFacts{.interleave = PolicyT::SrcLayout::kInterleave,
                             .bits = Checked::kSrcBits,
                             .unit_bytes = Checked::kUnitBytes,
                             .unit_channels = Checked::kUnitChannels,
                             .is_unsigned = Checked::kUnsigned,
                             .nhwc = Checked::kNhwc,
                             .has_taps = kHasKernel<PolicyT, SourceKind::kTaps>,
                             .converted = kConvertsSource<PolicyT>};
  facts.filter =
      FilterFacts{.interleave = PolicyT::FilterLayout::kInterleave, .bits = Checked::kFilterBits};
  facts.output = OutputFacts{.interleave = Dst::kInterleave,
                             .channel_run = Dst::kChannelRun,
                             .image_sums = Epilogue::kHasSums,
                             .pool = PoolOf<Epilogue>()};
  facts.prologue = PrologueFacts{
      .depends = Prologue::kDepends, .batched = kBatched<Prologue>, .name = Prologue::kName};
  facts.kind = KindOf<PolicyT>;
  facts.one_kernel = gemm::kOneKernel;
  facts.largest_product = Checked::kLargestProduct;
  facts.wgmma.gathers = KindOf<PolicyT> == Kind::kGather;
  facts.element_bytes = Checked::kElementBytes;
  // The configs' instructions count elements of one byte.
  if (!Checked::kSimt && !Checked::kDepthwise) facts.config.instruction.k /= facts.element_bytes;
  if constexpr (Epilogue::kHasResidual) {
    using Layout = typename Epilogue::ResidualStage::Layout;
    facts.output.residual_channel_run = [] {
      if constexpr (std::is_same_v<Layout, epilogues::SameAsDst>) {
        return Dst::kChannelRun;
      } else {
        return Layout::kChannelRun;
      }
    }();
  }
  return facts;
}

}  // namespace weft::conv
