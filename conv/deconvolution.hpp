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

// An immutable operator for one problem. It is safe to share between threads, holds no GPU memory
// and needs no workspace.
template <class PolicyT>
class Deconvolution {
  using Policy = typename internal::OperatorFor<PolicyT>::First;
  using Op = typename internal::OperatorFor<PolicyT>::type;
  using Epilogue = typename Policy::Epilogue;
  using FilterLayout = typename Policy::FilterLayout;

 public:
  using Problem = DeconvolutionProblem;
  using Element = typename Op::Element;
  using Output = typename Op::Output;
  using Filter = PackedDeconvolutionFilter<FilterLayout>;
  using BiasElement = typename Op::BiasElement;
  using ResidualElement = typename Op::ResidualElement;

  // Like ConvolutionArguments, with src and dst of the DeconvolutionProblem.
  struct Arguments {
    gemm::SourcePointer<Element> src = nullptr;  // problem.src() in SrcLayout
    Filter filter;  // from PackDeconvolutionFilter<FilterLayout>; 16-byte aligned
    gemm::BiasPointer<BiasElement> bias = nullptr;
    gemm::ResidualPointer<ResidualElement> residual = nullptr;  // problem.dst()
    gemm::OutputPointer<Output> dst = nullptr;                  // problem.dst() in DstLayout
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

  // Enqueues a kernel for each phase on `stream` and returns. It synchronises nothing, allocates no
  // GPU memory and can be captured in a CUDA graph. Errors are those of Convolution::Run.
  absl::Status Run(const Arguments& args, Stream stream,
                   const gemm::LaunchOptions& options = {}) const {
    return Start(args, gemm::GpuBackEnd{stream, options});
  }

  // Runs the same kernels on the CPU and returns when they are done.
  absl::Status RunOnCpu(const Arguments& args, const gemm::CpuOptions& options =
                                                   gemm::CpuOptions::FromEnvironment()) const {
    return Start(args, gemm::CpuBackEnd{options});
  }

  // Everything that Run checks before it launches.
  absl::Status CheckArguments(const Arguments& args) const {
    return conv::CheckArguments(plan_, RunOf(args), CheckPhase());
  }

 private:
  explicit Deconvolution(DeconvolutionPlan plan) : plan_(std::move(plan)) {}

  auto CheckPhase() const {
    return [this](std::size_t i, const ConvRun& run) { return ops_[i].CheckRun(run); };
  }
  template <class BackEnd>
  absl::Status Start(const Arguments& args, const BackEnd& on) const {
    return conv::Start(plan_, RunOf(args), CheckPhase(), [&](std::size_t i, const ConvRun& run) {
      return ops_[i].StartRun(run, on);
    });
  }

  static DeconvolutionRun RunOf(const Arguments& args) {
    DeconvolutionRun run = {TensorsOf<Epilogue>(args), args.filter.parts(),
                            &args.source_correction};
    run.every.filter.data = args.filter.data();
    run.every.filter.fingerprint = args.filter.fingerprint();
    run.every.filter_zero_point = args.filter_zero_point;
    run.every.window_sums = args.window_sums;
    run.every.filter_is_constant = args.filter_is_constant;
    return run;
  }

  DeconvolutionPlan plan_;
  std::vector<Op> ops_;  // the operator of each phase
};

template <class PolicyT>
  requires(!internal::CheckedPhases<PolicyT>::kValid)
class Deconvolution<PolicyT>
    : public gemm::RefusedOperator<Deconvolution<PolicyT>, DeconvolutionProblem> {};

}  // namespace weft::conv
