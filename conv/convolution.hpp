// Convolution<Policy>: a convolution as an operator, with the types and the tile of its policy.
//
//     using Op = weft::conv::Convolution<MyConv>;  // MyConv: see conv/policy/policy.hpp
//     absl::StatusOr<Op> op = Op::Create(problem);  // every check that needs no pointer
//     op->Run({.src = x, .filter = w, .bias = b, .dst = y}, stream);  // on the GPU
//     op->RunOnCpu({.src = x, .filter = w, .bias = b, .dst = y});     // the same, on the CPU
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "weft/conv/launch/arguments.hpp"
#include "weft/conv/launch/image.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/conv/launch/start.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/conv/policy/policy.hpp"
#include "weft/gemm/check/refused.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// An immutable operator for one problem. It is cheap to copy, safe to share between threads, holds
// no memory of its own and needs no workspace.
template <class PolicyT>
class Convolution {
  using Epilogue = typename PolicyT::Epilogue;
  using Prologue = typename PolicyT::Prologue;

 public:
  using Problem = conv::Problem;
  using Planner = ConvolutionPlanner;
  using Element = typename PolicyT::Element;
  using Output = typename Epilogue::Output;
  using FilterElement = typename CheckedPolicy<PolicyT>::FilterElement;
  using Filter = PackedFilter<typename PolicyT::FilterLayout, FilterElement, Prologue>;
  using Arguments =
      ConvolutionArguments<SourceElement<PolicyT>, Filter, Epilogue, SourceFunctorOf<PolicyT>>;
  using BiasElement = typename Arguments::BiasElement;
  using ResidualElement = typename Arguments::ResidualElement;

  static constexpr ConvFacts Facts() { return kImage.facts; }
  static constexpr ConvFacts PlanFacts() { return Facts(); }  // what Planner takes

  // InvalidArgument or OutOfRange, with a message that names the field, its value and what would be
  // accepted. Where dst has no elements (n, k, h or w is 0), runs do nothing.
  static absl::StatusOr<Convolution> Create(const Problem& problem) {
    return Planned(Planner::Make(problem, kImage.facts, nullptr));
  }

  // The same, and FailedPrecondition or ResourceExhausted if `device` cannot run this policy.
  static absl::StatusOr<Convolution> Create(const Problem& problem,
                                            const arch::DeviceLimits& device) {
    return Planned(Planner::Make(problem, kImage.facts, &device));
  }

  template <class Number, class... More>
    requires(std::is_arithmetic_v<Number>)
  static absl::StatusOr<Convolution> Create(Number, More...) {
    static_assert(sizeof(Number) == 0,
                  "weft: Create takes a Problem, whose fields have names: "
                  "Create({.n = 1, .h = 32, .w = 32, .c = 64, .k = 64, .r = 3, .s = 3})");
    return absl::InternalError("");
  }

  const Problem& problem() const { return plan_.problem; }
  // The extents of dst: those of the problem's, or with a MaxPool of its windows.
  TensorExtents dst() const { return plan_.dst(); }

  // How the work is divided into blocks.
  const PlanCounts& counts() const { return plan_.counts; }

  // Elements of src and dst in memory, the zero channels of blocked layouts included.
  std::int64_t src_size() const { return PolicyT::SrcLayout::Size(problem().src()); }
  std::int64_t dst_size() const { return PolicyT::DstLayout::Size(plan_.dst()); }
  // Bytes of both: half their elements where SrcLayout or DstLayout is a PairedInt4.
  std::int64_t src_bytes() const {
    return weft::internal::BytesOf<typename PolicyT::SrcLayout, Element>(src_size());
  }
  std::int64_t dst_bytes() const {
    return weft::internal::BytesOf<typename PolicyT::DstLayout, Output>(dst_size());
  }

  // The extents of one filter, as PackFilter, PackFilters and PackDepthwiseFilter take them.
  FilterExtents filter_extents() const {
    return PackedExtents(problem(), kImage.facts.IsDepthwise());
  }

  // How many filters the prologue's bank must have; 0: any number.
  std::int64_t filters() const { return Prologue::Filters(plan_.batch); }

  // A description in one line: tile, kernel, grid, shared memory, layouts.
  std::string Describe() const { return Planner::Describe(plan_, kImage.facts); }

  // Enqueues the kernel on `stream` and returns; it allocates and synchronises nothing and can be
  // captured in a CUDA graph. InvalidArgument for bad arguments; FailedPrecondition if there is no
  // GPU, if it is too old, or if this program holds no GPU code for PolicyT; Internal if CUDA
  // refuses.
  absl::Status Run(const Arguments& args, Stream stream,
                   const gemm::LaunchOptions& options = {}) const {
    return Start(args, gemm::GpuBackEnd{stream, options});
  }

  // Runs the same kernel on the CPU and returns when it is done, with the executor's counts in
  // *stats if that is not null. Internal if the executor finds the kernel at fault (deadlock,
  // divergence, a bad access), with the kernel's line.
  absl::Status RunOnCpu(const Arguments& args,
                        const gemm::CpuOptions& options = gemm::CpuOptions::FromEnvironment(),
                        gemm::CpuStats* stats = nullptr) const {
    if (stats != nullptr) *stats = {};
    return Start(args, gemm::CpuBackEnd{options, stats});
  }

  // Everything that Run checks before it launches.
  absl::Status CheckArguments(const Arguments& args) const {
    return conv::CheckArguments(kImage, plan_, RunOf(plan_, args));
  }

 private:
  template <class>
  friend class gemm::Dispatch;  // which makes the plans

  [[gnu::visibility("hidden")]] static constexpr PolicyImage kImage = ImageOf<PolicyT>();

  explicit Convolution(const ConvPlan& plan) : plan_(plan) {}
  static absl::StatusOr<Convolution> Planned(const absl::StatusOr<ConvPlan>& plan) {
    if (!plan.ok()) return plan.status();
    return Convolution(*plan);
  }

  // BackEnd: gemm::GpuBackEnd or gemm::CpuBackEnd.
  template <class BackEnd>
  absl::Status Start(const Arguments& args, const BackEnd& on) const {
    return conv::Start(kImage, plan_, RunOf(plan_, args), on, &BackEnd::template Run<PolicyT>);
  }

  ConvPlan plan_;
};

template <class PolicyT>
  requires(!CheckedPolicy<PolicyT>::kValid)
class Convolution<PolicyT> : public gemm::RefusedOperator<Convolution<PolicyT>, Problem> {};

}  // namespace weft::conv
