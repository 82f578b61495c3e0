// Deconvolution<PolicyT>: a transposed convolution (ONNX's ConvTranspose, PyTorch's
// ConvTranspose2d, the gradient of a convolution by its source) in int8, with any epilogue
// (docs/deconvolution.md).
//
//     using Op = weft::conv::Deconvolution<MyConv>;  // MyConv::Prologue = prologues::PerPhase
//     absl::StatusOr<Op> op = Op::Create(problem);   // a DeconvolutionProblem
//     auto w = PackDeconvolutionFilter<MyConv::FilterLayout>(problem, values);  // [c][k][r][s]
//     op->Run({.src = x, .filter = w->At(device_pointer), .bias = b, .dst = y}, stream);
//
// Run launches a kernel for each phase of the stride, stride_h * stride_w of them: that of
// Convolution<PolicyT>, or what Dispatch<PolicyT> chooses for the phase where PolicyT is a Family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "weft/conv/convolution.hpp"
#include "weft/conv/deconvolution/deconvolution_correction.hpp"
#include "weft/conv/deconvolution/deconvolution_filter.hpp"
#include "weft/conv/deconvolution/deconvolution_plan.hpp"
#include "weft/conv/deconvolution/deconvolution_start.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

namespace internal {

template <class PolicyT>
struct CheckedPhases {
  static constexpr bool kValid = false;
};
template <class PolicyT>
  requires(OperatorFor<PolicyT>::kValid)
struct CheckedPhases<PolicyT> {
  using Policy = typename OperatorFor<PolicyT>::First;
  static constexpr bool kValid = kPerPhase<typename Policy::Prologue>;
  static_assert(
      kValid,
      "weft: Deconvolution runs a convolution for each phase of the stride, so its policy "
      "has the Prologue weft::prologues::PerPhase");
  static_assert(!kConvertsSource<Policy>,
                "weft: Deconvolution takes no policy with a SourceFunctor");
  static_assert(!kIsInt4<typename Policy::FilterLayout>,
                "weft: Deconvolution takes filters of int8; give its policy a FilterLayout that is "
                "no PackedInt4");
};

}  // namespace internal

// Like ConvolutionArguments, with src and dst of the DeconvolutionProblem.
template <class Policy>
struct DeconvolutionArguments {
  using Epilogue = typename Policy::Epilogue;
  using BiasElement = typename Epilogue::BiasElement;
  using ResidualElement = typename Epilogue::ResidualElement;
  gemm::SourcePointer<typename Policy::Element> src = nullptr;  // problem.src() in SrcLayout
  PackedDeconvolutionFilter<typename Policy::FilterLayout>
      filter;  // from PackDeconvolutionFilter<FilterLayout>; 16-byte aligned
  gemm::BiasPointer<BiasElement> bias = nullptr;
  gemm::ResidualPointer<ResidualElement> residual = nullptr;     // problem.dst()
  gemm::OutputPointer<typename Epilogue::Output> dst = nullptr;  // problem.dst() in DstLayout
  float alpha = 1.0f;
  gemm::NumbersPointer<float> channel_alpha = nullptr;
  float beta = 1.0f;
  float gamma = 1.0f;
  float output_scale = 0.0f;
  float zero_point = 0.0f;
  // What MakeSourceCorrection made, with a SourceZeroPoint stage; the two below it as in
  // ConvolutionArguments, with a FilterZeroPoint stage, for the problem's p and q.
  DeconvolutionCorrection source_correction{};
  gemm::NumbersPointer<std::int32_t> filter_zero_point = nullptr;
  gemm::NumbersPointer<std::int32_t> window_sums = nullptr;
  bool filter_is_constant = false;
  Epilogue epilogue{};
};

// An immutable operator for one problem. It is safe to share between threads, holds no GPU memory
// and needs no workspace.
template <class PolicyT>
class Deconvolution : public gemm::RunnableOperator<
                          Deconvolution<PolicyT>,
                          DeconvolutionArguments<typename internal::OperatorFor<PolicyT>::First>> {
  using Policy = typename internal::OperatorFor<PolicyT>::First;
  using Op = typename internal::OperatorFor<PolicyT>::type;
  using Epilogue = typename Policy::Epilogue;
  using FilterLayout = typename Policy::FilterLayout;

 public:
  using Problem = DeconvolutionProblem;
  using Element = typename Op::Element;
  using Output = typename Op::Output;
  using Filter = PackedDeconvolutionFilter<FilterLayout>;
  using Arguments = DeconvolutionArguments<Policy>;
  using BiasElement = typename Op::BiasElement;
  using ResidualElement = typename Op::ResidualElement;

  // InvalidArgument and OutOfRange as for CheckDeconvolution, and the errors of Convolution (or
  // Dispatch), whose further arguments are `more`, for each phase.
  template <class... More>
  static absl::StatusOr<Deconvolution> Create(const Problem& problem, const More&... more) {
    absl::StatusOr<DeconvolutionPlan> plan =
        PlanDeconvolution(problem, gemm::EpilogueFactsOf<Epilogue>(), &PartOffsets<FilterLayout>);
    if (!plan.ok()) return plan.status();
    Deconvolution made(*std::move(plan));
    for (const Phase& phase : made.phases()) {
      absl::StatusOr<Op> op = Op::Create(phase.problem, more...);
      if (!op.ok()) {
        return OfPhase(op.status(), problem, static_cast<std::int64_t>(made.ops_.size()));
      }
      made.ops_.push_back(*std::move(op));
    }
    return made;
  }

  const Problem& problem() const { return plan_.problem; }

  // The phases: for each its convolution, filter part and place in the destination.
  const std::vector<Phase>& phases() const { return plan_.phases; }

  // Elements of src and dst in memory, the zero channels of blocked layouts included.
  std::int64_t src_size() const { return Policy::SrcLayout::Size(problem().src()); }
  std::int64_t dst_size() const { return Policy::DstLayout::Size(problem().dst()); }
  // Bytes of dst: half its elements where DstLayout is a PairedInt4.
  std::int64_t dst_bytes() const {
    return weft::internal::BytesOf<typename Policy::DstLayout, Output>(dst_size());
  }

  // A description in one line: the phases, then the convolution of the last one.
  std::string Describe() const {
    if (problem().IsEmpty()) return "nothing to do: dst has no elements";
    return absl::StrCat(DescribePhases(phases()), "; the last: ", ops_.back().Describe());
  }

  // Run enqueues a kernel for each phase, after the arguments of all were found to be right.
  DeconvolutionRun RunOfArguments(const Arguments& args) const {
    DeconvolutionRun run = {TensorsOf<Epilogue>(args), args.filter.parts(),
                            &args.source_correction};
    run.every.filter.data = args.filter.data();
    run.every.filter.fingerprint = args.filter.fingerprint();
    run.every.filter_zero_point = args.filter_zero_point;
    run.every.window_sums = args.window_sums;
    run.every.filter_is_constant = args.filter_is_constant;
    return run;
  }
  absl::Status CheckRun(const DeconvolutionRun& run) const {
    return conv::CheckArguments(plan_, run, CheckPhase());
  }
  template <class BackEnd>
  absl::Status StartRun(const DeconvolutionRun& run, const BackEnd& on) const {
    return Start(plan_, run, CheckPhase(),
                 [&](std::size_t i, const ConvRun& phase) { return ops_[i].StartRun(phase, on); });
  }

 private:
  explicit Deconvolution(DeconvolutionPlan plan) : plan_(std::move(plan)) {}

  auto CheckPhase() const {
    return [this](std::size_t i, const ConvRun& run) { return ops_[i].CheckRun(run); };
  }
  DeconvolutionPlan plan_;
  std::vector<Op> ops_;  // the operator of each phase
};

template <class PolicyT>
  requires(!internal::CheckedPhases<PolicyT>::kValid)
class Deconvolution<PolicyT>
    : public gemm::RefusedOperator<Deconvolution<PolicyT>, DeconvolutionProblem> {};

}  // namespace weft::conv
