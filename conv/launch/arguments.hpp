// The tensors and numbers of one run of a convolution.
#pragma once

#include <cstdint>

#include "weft/conv/policy/policy.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/gemm/check/typed_pointer.hpp"
#include "weft/layouts/packed_filter.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::conv {

// A Convolution's Arguments. Addresses are GPU addresses for Run and host addresses for RunOnCpu. No
// tensor may overlap dst, except a residual that has dst's layout, address and element size. A
// number that no stage of the epilogue reads keeps its default. Policies that differ only in their
// config share this type.
template <class Element, class FilterT, class EpilogueT, class SourceFunctor = NoSourceFunctor>
struct ConvolutionArguments {
  using Filter = FilterT;
  using Epilogue = EpilogueT;
  using BiasElement = typename Epilogue::BiasElement;
  using ResidualElement = typename Epilogue::ResidualElement;

  gemm::SourcePointer<Element> src = nullptr;  // problem.src() in SrcLayout; config.alignment.src
  Filter filter;  // problem.filter(), or a bank of them; 16-byte aligned
  gemm::BiasPointer<BiasElement> bias = nullptr;  // problem.k values, with a Bias or SumBias stage
  // problem.dst(), with a Residual stage only; 4-byte aligned.
  gemm::ResidualPointer<ResidualElement> residual = nullptr;
  gemm::OutputPointer<typename Epilogue::Output> dst = nullptr;  // problem.dst() in DstLayout
  // Or dst is a slice of the channels of a tensor with so many: the address of the slice's first
  // channel of image 0, a multiple of the channels of a block. Zeros fill the slice's last block, so
  // that another one may follow where problem.k is a multiple of them. Of layouts in blocks of
  // channels, without Residual and Copy. 0: dst is the whole tensor.
  std::int64_t dst_channels = 0;
  float alpha = 1.0f;  // scale of the accumulator, the same for every channel
  // Or problem.k scales, one for each output channel.
  gemm::NumbersPointer<float> channel_alpha = nullptr;
  float beta = 1.0f;          // scale of the bias
  float gamma = 1.0f;         // scale of the residual
  float output_scale = 0.0f;  // with an OutputScale stage: the real value of a step of dst
  float zero_point = 0.0f;    // added before the conversion to an 8-bit type
  SourceCorrection source_correction{};  // with a SourceZeroPoint stage: MakeSourceCorrection's
  // With a FilterZeroPoint stage: problem.k values, one for each output channel, and, unless it is
  // depthwise, the sums [n][groups][p][q] that a WindowSums operator (ready_made.hpp) makes of the
  // source.
  gemm::NumbersPointer<std::int32_t> filter_zero_point = nullptr;
  gemm::NumbersPointer<std::int32_t> window_sums = nullptr;
  // True promises that no earlier kernel of the stream writes the filter, unless it ended before
  // the last launch: a wgmma_sm90 kernel then fetches the filter's first k tiles while earlier
  // kernels run.
  bool filter_is_constant = false;
  Epilogue epilogue{};                   // run-time values of the activations, if they have any
  typename Filter::Prologue prologue{};  // the same of the prologue
  SourceFunctor source_functor{};        // the same of the policy's SourceFunctor
};

template <class PolicyT>
using ArgumentsOf = ConvolutionArguments<
    SourceElement<PolicyT>,
    PackedFilter<typename PolicyT::FilterLayout, typename CheckedPolicy<PolicyT>::FilterElement,
                 typename PolicyT::Prologue>,
    typename PolicyT::Epilogue, SourceFunctorOf<PolicyT>>;

}  // namespace weft::conv
