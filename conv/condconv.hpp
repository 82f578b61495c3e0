// CondConv<PolicyT>: a convolution whose filter is mixed from experts for each image,
//     dst[n] = conv(src[n], sum over e of routing[n][e] * expert_scale[e][k] * experts[e]),
// and rounded to int8 (docs/condconv.md).
//
//     using Op = weft::conv::CondConv<MyConv>;  // MyConv::Prologue = weft::prologues::PerSample
//     absl::StatusOr<Op> op = Op::Create(problem, 8);  // experts
//     op->Run({.src = x, .experts = bank, .routing = r, .workspace = w,
//              .workspace_bytes = op->workspace_size(), .bias = b, .dst = y}, stream);
//
// Run launches two kernels in one stream: the first writes a filter for each image into the
// workspace; the second is that of Convolution<PolicyT>, or what Dispatch<PolicyT> chooses where
// PolicyT is a Family.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/conv/condconv/mix_plan.hpp"
#include "weft/conv/condconv/mix_start.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

namespace internal {

template <class PolicyT>
struct CheckedMixed {
  static constexpr bool kValid = false;
};
template <class PolicyT>
  requires(OperatorFor<PolicyT>::kValid)
struct CheckedMixed<PolicyT> {
  using Policy = typename OperatorFor<PolicyT>::First;
  static constexpr bool kValid = std::is_same_v<typename Policy::Prologue, prologues::PerSample>;
  static_assert(kValid,
                "weft: CondConv writes one filter for each image, so its policy has the Prologue "
                "weft::prologues::PerSample");
  static_assert(!kConvertsSource<Policy>, "weft: CondConv takes no policy with a SourceFunctor");
  static_assert(!kIsInt4<typename Policy::FilterLayout>,
                "weft: CondConv mixes experts of int8; give its policy a FilterLayout that is no "
                "PackedInt4");
};

}  // namespace internal

// Like ConvolutionArguments, with experts, routing weights and a workspace in the place of a
// filter. No tensor may overlap the workspace.
template <class Policy>
struct CondConvArguments {
  using Epilogue = typename Policy::Epilogue;
  using BiasElement = typename Epilogue::BiasElement;
  using ResidualElement = typename Epilogue::ResidualElement;
  using Experts = PackedFilter<typename Policy::FilterLayout,
                               typename CheckedPolicy<Policy>::FilterElement, prologues::Experts>;
  gemm::SourcePointer<typename Policy::Element> src = nullptr;  // problem.src() in SrcLayout
  // From PackFilters<prologues::Experts, FilterLayout>(problem.filter(), experts, values);
  // 16-byte aligned.
  Experts experts;
  gemm::NumbersPointer<float> routing = nullptr;  // [problem.n][experts], any numbers
  // [experts][problem.k]: for each expert and output channel, the step of the expert's integers,
  // as a multiple of the mixed filter's step, which in turn is part of alpha. Null means ones.
  gemm::NumbersPointer<float> expert_scale = nullptr;
  void* workspace = nullptr;         // the mixed filters; 16-byte aligned
  std::int64_t workspace_bytes = 0;  // workspace_size() or more
  gemm::BiasPointer<BiasElement> bias = nullptr;
  gemm::ResidualPointer<ResidualElement> residual = nullptr;
  gemm::OutputPointer<typename Epilogue::Output> dst = nullptr;
  float alpha = 1.0f;
  gemm::NumbersPointer<float> channel_alpha = nullptr;
  float beta = 1.0f;
  float gamma = 1.0f;
  float output_scale = 0.0f;
  float zero_point = 0.0f;
  // True promises that no earlier kernel of the stream writes the experts, unless it ended before
  // the last launch: they are then fetched while earlier kernels still run.
  bool experts_are_constant = false;
  Epilogue epilogue{};
};

// An immutable operator for one problem and number of experts. It is cheap to copy, safe to share
// between threads, and holds no memory of its own.
template <class PolicyT>
class CondConv
    : public gemm::RunnableOperator<
          CondConv<PolicyT>, CondConvArguments<typename internal::OperatorFor<PolicyT>::First>> {
  using Policy = typename internal::OperatorFor<PolicyT>::First;
  using Op = typename internal::OperatorFor<PolicyT>::type;
  using Epilogue = typename Policy::Epilogue;
  using FilterLayout = typename Policy::FilterLayout;

 public:
  using Element = typename Op::Element;
  using Output = typename Op::Output;
  using FilterElement = typename CheckedPolicy<Policy>::FilterElement;
  using Arguments = CondConvArguments<Policy>;
  using Experts = typename Arguments::Experts;
  using BiasElement = typename Op::BiasElement;
  using ResidualElement = typename Op::ResidualElement;

  // Errors are those of Convolution (or Dispatch), whose further arguments are `more`;
  // InvalidArgument also if there are no experts or more than kMostExperts, 32.
  template <class... More>
  static absl::StatusOr<CondConv> Create(const Problem& problem, std::int64_t experts,
                                         const More&... more) {
    absl::StatusOr<Op> op = Op::Create(problem, more...);
    if (!op.ok()) return op.status();
    absl::StatusOr<MixPlan> plan =
        PlanMixing(problem, MixFormatOf<FilterLayout>(problem.filter()), experts);
    if (!plan.ok()) return plan.status();
    return CondConv(*std::move(op), *plan);
  }

  const Problem& problem() const { return op_.problem(); }
  std::int64_t experts() const { return plan_.params.count; }

  // Elements of src and dst in memory, the zero channels of blocked layouts included.
  std::int64_t src_size() const { return op_.src_size(); }
  std::int64_t dst_size() const { return op_.dst_size(); }
  std::int64_t dst_bytes() const { return op_.dst_bytes(); }

  // Bytes of the workspace, which holds a packed filter for each image.
  std::int64_t workspace_size() const { return plan_.workspace_bytes(); }

  // The filters that the first kernel of a run leaves in its workspace.
  PackedFilter<FilterLayout, FilterElement, prologues::PerSample> Mixed(
      const void* workspace) const {
    return {problem().filter(), problem().n, static_cast<const FilterElement*>(workspace)};
  }

  // A description in one line: the mixing, then the convolution.
  std::string Describe() const {
    if (problem().IsEmpty()) return op_.Describe();
    return absl::StrCat(DescribeMixing(plan_), "; then ", op_.Describe());
  }

  // Run enqueues both kernels. Its further errors are those of CheckArguments in conv/condconv/mix_start.hpp.
  MixRun RunOfArguments(const Arguments& args) const {
    return MixRunOf<Epilogue>(args, Mixed(args.workspace));
  }
  absl::Status CheckRun(const MixRun& run) const {
    return conv::CheckArguments(kImage, problem(), plan_, run, CheckConvolution());
  }
  template <class BackEnd>
  absl::Status StartRun(const MixRun& run, const BackEnd& on) const {
    return Start(kImage, problem(), plan_, run, on, CheckConvolution(),
                 [&](const ConvRun& convolution) { return op_.StartRun(convolution, on); });
  }

 private:
  [[gnu::visibility("hidden")]] static constexpr PolicyImage kImage = ImageOf<Policy>();

  CondConv(Op op, const MixPlan& plan) : op_(std::move(op)), plan_(plan) {}

  auto CheckConvolution() const {
    return [this](const ConvRun& run) { return op_.CheckRun(run); };
  }

  Op op_;
  MixPlan plan_;
};

template <class PolicyT>
  requires(!internal::CheckedMixed<PolicyT>::kValid)
class CondConv<PolicyT> : public gemm::RefusedOperator<CondConv<PolicyT>, Problem> {};

}  // namespace weft::conv
