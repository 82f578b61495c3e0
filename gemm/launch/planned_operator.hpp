// The shells of operators: RunnableOperator, which all have, and PlannedOperator, of those that are one policy and its
// plan: convolutions, fused pairs, bottlenecks, matrix products.
#pragma once

#include <string>
#include <type_traits>

#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// OperatorT derives from it and has three functions, with which an operator that is made of several runs these:
//     auto RunOfArguments(const Arguments& args) const;    // the run without the types of its policy
//     absl::Status CheckRun(const auto& run) const;        // everything that is checked before a launch
//     absl::Status StartRun(const auto& run, on) const;    // checks and starts; on: a GpuBackEnd or CpuBackEnd
template <class OperatorT, class ArgumentsT>
class RunnableOperator {
 public:
  using Arguments = ArgumentsT;

  // Enqueues the kernels on `stream` and returns; it allocates and synchronises nothing and can be
  // captured in a CUDA graph. InvalidArgument for bad arguments; FailedPrecondition if there is no
  // GPU, if it is too old, or if this program holds no GPU code for the policy; Internal if CUDA
  // refuses.
  absl::Status Run(const Arguments& args, Stream stream, const LaunchOptions& options = {}) const {
    return self().StartRun(self().RunOfArguments(args), GpuBackEnd{stream, options});
  }

  // Runs the same kernels on the CPU and returns when it is done, with the executor's counts of the last
  // of them in *stats if that is not null. Internal if the executor finds the kernel at fault (deadlock,
  // divergence, a bad access), with the kernel's line.
  absl::Status RunOnCpu(const Arguments& args,
                        const CpuOptions& options = CpuOptions::FromEnvironment(),
                        CpuStats* stats = nullptr) const {
    if (stats != nullptr) *stats = {};
    return self().StartRun(self().RunOfArguments(args), CpuBackEnd{options, stats});
  }

  // Everything that Run checks before it launches.
  absl::Status CheckArguments(const Arguments& args) const {
    return self().CheckRun(self().RunOfArguments(args));
  }

 private:
  const OperatorT& self() const { return static_cast<const OperatorT&>(*this); }
};

// An immutable operator for one problem. It is cheap to copy, safe to share between threads, holds no
// memory of its own and needs no workspace. OperatorT derives from it and has
//     static constexpr PlannerT::Image kImage;  // its policy as values
//     using Policy = ...;                       // whose kernels a back end starts
//     static PlannerT::Run RunOf(const Plan& plan, const Arguments& args);  // without types
template <class OperatorT, class PlannerT, class ArgumentsT>
class PlannedOperator : public RunnableOperator<OperatorT, ArgumentsT> {
 public:
  using Planner = PlannerT;
  using Problem = typename Planner::Problem;
  using Plan = typename Planner::Plan;

  // InvalidArgument or OutOfRange, with a message that names the field, its value and what would be
  // accepted. Where the output has no elements, runs do nothing.
  static absl::StatusOr<OperatorT> Create(const Problem& problem) {
    return Planned(Planner::Make(problem, OperatorT::kImage.facts, nullptr));
  }

  // The same, and FailedPrecondition or ResourceExhausted if `device` cannot run this policy.
  static absl::StatusOr<OperatorT> Create(const Problem& problem,
                                          const arch::DeviceLimits& device) {
    return Planned(Planner::Make(problem, OperatorT::kImage.facts, &device));
  }

  template <class Number, class... More>
    requires(std::is_arithmetic_v<Number>)
  static absl::StatusOr<OperatorT> Create(Number, More...) {
    static_assert(sizeof(Number) == 0,
                  "weft: Create takes a Problem, whose fields have names: of a convolution "
                  "Create({.n = 1, .h = 32, .w = 32, .c = 64, .k = 64, .r = 3, .s = 3}), of a "
                  "product Create({.m = 512, .n = 256, .k = 1024})");
    return absl::InternalError("");
  }

  const Problem& problem() const { return plan_.problem; }

  // How the work is divided into blocks.
  const auto& counts() const { return plan_.counts; }

  // A description in one line: tile, kernel, grid, shared memory, layouts.
  std::string Describe() const { return Planner::Describe(plan_, OperatorT::kImage.facts); }

  auto RunOfArguments(const ArgumentsT& args) const { return OperatorT::RunOf(plan_, args); }
  template <class RunT>
  absl::Status CheckRun(const RunT& run) const {
    using gemm::CheckArguments;  // or that of the image's namespace
    return CheckArguments(OperatorT::kImage, plan_, run);
  }
  template <class RunT, class BackEnd>
  absl::Status StartRun(const RunT& run, const BackEnd& on) const {
    return Start(OperatorT::kImage, plan_, run, on,
                 &BackEnd::template Run<typename OperatorT::Policy>);
  }

 protected:
  explicit PlannedOperator(const Plan& plan) : plan_(plan) {}

  Plan plan_;

 private:
  static absl::StatusOr<OperatorT> Planned(const absl::StatusOr<Plan>& plan) {
    if (!plan.ok()) return plan.status();
    return OperatorT(*plan);
  }
};

}  // namespace weft::gemm
