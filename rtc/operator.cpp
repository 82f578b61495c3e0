#include "weft/rtc/operator.hpp"

#include <utility>

#include "weft/conv/launch/start.hpp"
#include "weft/rtc/compiled.hpp"

namespace weft::rtc {

absl::StatusOr<Operator> Compile(std::string_view source, const Options& options) {
  absl::StatusOr<std::shared_ptr<Compiled>> made = Compiled::Make(
      source, PolicyKind::kConvolution,
      [](const Policy& policy) -> gemm::TileFacts { return policy.image().facts; }, options);
  if (!made.ok()) return made.status();
  return Operator(*std::move(made));
}

const std::string& Operator::policy() const {
  return state_->name();
}

const Policy& Operator::facts() const {
  return state_->policy();
}

absl::Status Operator::cache_status() const {
  return state_->cache_status();
}

absl::StatusOr<conv::ConvPlan> Operator::Plan(const conv::Problem& problem) const {
  return conv::ConvolutionPlanner::Make(problem, image().facts, nullptr);
}

std::string Operator::Describe(const conv::ConvPlan& plan) const {
  return conv::ConvolutionPlanner::Describe(plan, image().facts);
}

std::int64_t Operator::src_bytes(const conv::ConvPlan& plan) const {
  const conv::SourceFacts& source = image().facts.source;
  return conv::FormatFacts{.interleave = source.interleave, .bits = source.bits}.Bytes(
      plan.problem.src());
}

std::int64_t Operator::dst_bytes(const conv::ConvPlan& plan) const {
  return image().dst.Bytes(plan.dst());
}

absl::StatusOr<conv::ConvRun> Operator::RunOf(const conv::ConvPlan& plan,
                                              const Arguments& args) const {
  absl::StatusOr<conv::ConvRun> run = state_->RunOf(0, plan.batch, args);
  if (!run.ok()) return run;
  for (const conv::ParamsImage& params : image().params) {
    if (params.at.phase == conv::kNoPart) continue;
    if (args.phase == nullptr) {
      return absl::InvalidArgumentError(
          "rtc: the policy's prologue is PerPhase, a transposed convolution's; set phase to the "
          "place "
          "of one of conv::PhasesOf(problem), and run them all");
    }
    run->prologue = run->phase = args.phase;
  }
  return run;
}

absl::Status Operator::Run(const conv::ConvPlan& plan, const conv::ConvRun& run, Stream stream,
                           const gemm::LaunchOptions& options) const {
  return state_->module().Run(plan, run, stream, options);
}

absl::Status Operator::Run(const conv::ConvPlan& plan, const Arguments& args, Stream stream,
                           const gemm::LaunchOptions& options) const {
  const absl::StatusOr<conv::ConvRun> run = RunOf(plan, args);
  return run.ok() ? Run(plan, *run, stream, options) : run.status();
}

absl::Status Operator::Prepare(const conv::ConvPlan& plan) const {
  return state_->module().Prepare(plan.number());
}

absl::Status Operator::CompileFor(const conv::ConvPlan& plan, int compute_capability) const {
  const absl::StatusOr<Program> program = state_->CompileFor(compute_capability);
  if (!program.ok()) return program.status();
  if (facts().record().asks_host) {
    if (absl::Status s = PrepareOnCpu(); !s.ok()) return s;
  }
  return program->Link(plan.number(), state_->kept()).status();
}

absl::Status Operator::RunOnCpu(const conv::ConvPlan& plan, const conv::ConvRun& run,
                                const gemm::CpuOptions& options) const {
  const absl::StatusOr<const Twin*> twin = state_->GetTwin();
  if (!twin.ok()) return twin.status();
  const gemm::CpuBackEnd on{options, nullptr, (*twin)->table().run};
  return conv::Start(image(), plan, run, on, &gemm::CpuBackEnd::RunStarter);
}

absl::Status Operator::RunOnCpu(const conv::ConvPlan& plan, const Arguments& args,
                                const gemm::CpuOptions& options) const {
  const absl::StatusOr<conv::ConvRun> run = RunOf(plan, args);
  return run.ok() ? RunOnCpu(plan, *run, options) : run.status();
}

absl::Status Operator::PrepareOnCpu() const {
  return state_->GetTwin().status();
}

}  // namespace weft::rtc
