// DepthwisePointwise<PolicyT>: a depthwise convolution and the 1x1 convolution that follows it, in
// one kernel (docs/depthwise_pointwise.md).
//
//     using Op = weft::conv::DepthwisePointwise<MyBlock>;  // see depthwise_pointwise_policy.hpp
//     absl::StatusOr<Op> op = Op::Create(depthwise, 24);   // output channels of the 1x1
//     op->Run({.src = x, .depthwise = {.filter = d, .bias = e, .alpha = 0.1f},
//              .filter = w, .bias = b, .dst = y, .alpha = 0.2f}, stream);
//
// The result is bit for bit that of Convolution<DepthwiseHalf<MyBlock>> and then
// Convolution<PointwiseHalf<MyBlock>>, but the tensor between them stays in shared memory. Dispatch
// (gemm/dispatch.hpp) chooses among a Family of such policies:
//
//     using Op = weft::conv::Dispatch<weft::conv::S8DepthwisePointwise32Family<>>;
//     absl::StatusOr<Op> op = Op::Create({.depthwise = depthwise, .k = 24});
//
// One kernel saves the bytes of that tensor, so it is for large images. Where the output has fewer than
// 14 x 14 pixels the two kernels are quicker (docs/depthwise_pointwise.md has times): run the halves
// there. Dispatch chooses among tiles of this kernel alone; Describe says so of such a problem.
#pragma once

#include <cstdint>

#include "weft/conv/convolution.hpp"
#include "weft/conv/depthwise_pointwise/depthwise_pointwise_kernel.hpp"
#include "weft/conv/depthwise_pointwise/depthwise_pointwise_plan.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/launch/depthwise_pointwise_start.hpp"
#include "weft/conv/problem/depthwise_pointwise_problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The arguments of a run that belong to the depthwise convolution, as in ConvolutionArguments.
template <class Epilogue>
struct DepthwiseHalfArguments {
  // PackDepthwiseFilter of problem.depthwise_filter(); 16-byte aligned.
  PackedFilter<KRSx4x4, std::int8_t, prologues::Depthwise> filter;
  gemm::BiasPointer<typename Epilogue::BiasElement> bias = nullptr;
  float alpha = 1.0f;
  gemm::NumbersPointer<float> channel_alpha = nullptr;
  float beta = 1.0f;
  float output_scale = 0.0f;
  float zero_point = 0.0f;
  SourceCorrection source_correction{};  // what MakeSourceCorrection made for problem.depthwise
  // problem.depthwise.k values, with a FilterZeroPoint stage.
  gemm::NumbersPointer<std::int32_t> filter_zero_point = nullptr;
  Epilogue epilogue{};
  // This half has no residual and no output, but code that is shared with other operators asks for
  // them.
  [[gnu::visibility("hidden")]] static constexpr const std::int8_t* residual = nullptr;
  [[gnu::visibility("hidden")]] static constexpr const typename Epilogue::Output* dst = nullptr;
  [[gnu::visibility("hidden")]] static constexpr float gamma = 1.0f;
};

// The arguments of a run, as in ConvolutionArguments. No tensor may overlap dst, except a residual
// that has dst's layout, address and element size. Policies that differ only in their config share
// this type.
template <class Element, class DepthwiseEpilogue, class EpilogueT>
struct DepthwisePointwiseArguments {
  using Epilogue = EpilogueT;
  using ResidualElement = typename Epilogue::ResidualElement;
  gemm::SourcePointer<Element> src = nullptr;  // problem.depthwise.src() in SrcLayout
  DepthwiseHalfArguments<DepthwiseEpilogue> depthwise;
  // PackFilter<CxRSKx<32>> of problem.pointwise().filter(); 16-byte aligned.
  PackedFilter<CxRSKx<32>, std::int8_t> filter;
  gemm::BiasPointer<typename Epilogue::BiasElement> bias = nullptr;
  gemm::ResidualPointer<ResidualElement> residual = nullptr;
  gemm::OutputPointer<typename Epilogue::Output> dst = nullptr;  // pointwise().dst() in DstLayout
  float alpha = 1.0f;
  gemm::NumbersPointer<float> channel_alpha = nullptr;
  float beta = 1.0f;
  float gamma = 1.0f;
  float output_scale = 0.0f;
  float zero_point = 0.0f;
  Epilogue epilogue{};
};

template <class PolicyT>
using FusedArgumentsOf =
    DepthwisePointwiseArguments<typename PolicyT::Element, typename PolicyT::DepthwiseEpilogue,
                                typename PolicyT::Epilogue>;

// The rest of its members: gemm/launch/planned_operator.hpp. Errors of Create are Convolution's for each of
// the two; Unimplemented for filters other than 3x3 and 5x5, strides other than 1 and 2, dilation and
// Mode::kConvolution; ResourceExhausted for more channels than fit in shared memory.
template <class PolicyT>
class DepthwisePointwise
    : public gemm::PlannedOperator<DepthwisePointwise<PolicyT>, DepthwisePointwisePlanner,
                                   FusedArgumentsOf<PolicyT>> {
  using First = DepthwiseHalf<PolicyT>;
  using Second = PointwiseHalf<PolicyT>;
  using FirstEpilogue = typename PolicyT::DepthwiseEpilogue;
  using Epilogue = typename PolicyT::Epilogue;
  using Params = DepthwisePointwiseParams<PolicyT>;
  using Base = gemm::PlannedOperator<DepthwisePointwise, DepthwisePointwisePlanner,
                                     FusedArgumentsOf<PolicyT>>;
  using Base::plan_;

  static constexpr gemm::TileFacts TileOfPolicy() {
    gemm::TileFacts facts = FactsOf<Second>();
    facts.config = PolicyT::config;
    facts.threads = PolicyT::config.warps * 32;
    facts.shared_bytes = 0;  // depends on a problem's channels
    return facts;
  }
  template <int i>
  static constexpr int kBlocks =
      DepthwisePointwiseKernel<PolicyT, kFirstFusedShape + i>::kMinBlocksPerSm;

 public:
  using Policy = PolicyT;
  using Element = typename PolicyT::Element;
  using Middle = typename FirstEpilogue::Output;  // elements of the tensor between the halves
  using Output = typename Epilogue::Output;
  using Filter = PackedFilter<CxRSKx<32>, std::int8_t>;
  using BiasElement = typename Epilogue::BiasElement;
  using ResidualElement = typename Epilogue::ResidualElement;
  using Base::problem;

  [[gnu::visibility("hidden")]] static constexpr FusedImage kImage = {
      .facts = {.depthwise = FactsOf<First>(),
                .pointwise = FactsOf<Second>(),
                .tile = TileOfPolicy(),
                .config = PolicyT::config,
                .blocks_by_registers = {kBlocks<0>, kBlocks<1>, kBlocks<2>, kBlocks<3>},
                .src_layout = PolicyT::SrcLayout::kName,
                .dst_layout = PolicyT::DstLayout::kName},
      .first = ImageOf<First>(),
      .second = ImageOf<Second>(),
      .at = internal::FusedLayoutOf<Params>(),
      .defaults = gemm::kDefaultsOf<Params>};
  static constexpr gemm::TileFacts Facts() { return kImage.facts.tile; }

  // k: the output channels of the 1x1 convolution.
  using Base::Create;
  static absl::StatusOr<DepthwisePointwise> Create(const conv::Problem& depthwise, std::int64_t k) {
    return Create(DepthwisePointwiseProblem{depthwise, k});
  }
  static absl::StatusOr<DepthwisePointwise> Create(const conv::Problem& depthwise, std::int64_t k,
                                                   const arch::DeviceLimits& device) {
    return Create(DepthwisePointwiseProblem{depthwise, k}, device);
  }

  const conv::Problem& depthwise() const { return problem().depthwise; }
  const conv::Problem& pointwise() const { return plan_.pointwise; }

  // Elements of src and dst in memory, the zero channels of blocked layouts included.
  std::int64_t src_size() const { return PolicyT::SrcLayout::Size(depthwise().src()); }
  std::int64_t dst_size() const { return PolicyT::DstLayout::Size(pointwise().dst()); }
  std::int64_t dst_bytes() const { return dst_size() * std::int64_t{sizeof(Output)}; }

  // The extents of the depthwise filter, as PackDepthwiseFilter takes them.
  FilterExtents depthwise_filter_extents() const { return problem().depthwise_filter(); }

  static FusedRun RunOf(const DepthwisePointwisePlan&, const FusedArgumentsOf<PolicyT>& args) {
    FusedRun run;
    run.first.src = gemm::GivenTensor{args.src, args.src.given()};
    run.first.filter = FilterRunOf(args.depthwise.filter);
    run.first.output = gemm::OutputRunOf<FirstEpilogue>(args.depthwise, args.depthwise.dst);
    run.first.source_correction = &args.depthwise.source_correction;
    run.first.filter_zero_point = args.depthwise.filter_zero_point;
    run.second.filter = FilterRunOf(args.filter);
    run.second.output = gemm::OutputRunOf<Epilogue>(args, args.dst);
    return run;
  }

 private:
  friend Base;
  template <class>
  friend class gemm::Dispatch;  // which makes the plans

  explicit DepthwisePointwise(const DepthwisePointwisePlan& plan) : Base(plan) {}
};

template <class PolicyT>
  requires(!CheckedDepthwisePointwise<PolicyT>::kValid)
class DepthwisePointwise<PolicyT>
    : public gemm::RefusedOperator<DepthwisePointwise<PolicyT>, DepthwisePointwiseProblem> {
  using Refused = gemm::RefusedOperator<DepthwisePointwise, DepthwisePointwiseProblem>;

 public:
  using Refused::Create;
  static absl::StatusOr<DepthwisePointwise> Create(const conv::Problem& depthwise, std::int64_t k);
};

}  // namespace weft::conv
