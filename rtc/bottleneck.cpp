#include "weft/rtc/bottleneck.hpp"

#include <cstring>
#include <utility>

#include "weft/rtc/compiled.hpp"
#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/policy/bottleneck_record.hpp"

namespace weft::rtc {
namespace {

// The number of a part for Compiled::RunOf.
constexpr int NumberOf(BottleneckPart part) {
  return part == BottleneckPart::kThird ? 0 : static_cast<int>(part) + 1;
}

const Policy& PolicyOf(const Policy& policy, BottleneckPart part) {
  return part == BottleneckPart::kThird ? policy : policy.other(NumberOf(part) - 1);
}

// The image that the compiled code describes. It points into the policy.
conv::BottleneckImage ImageOf(const Policy& policy) {
  const std::string_view bytes = policy.fused();
  BottleneckRecord record;
  std::memcpy(static_cast<void*>(&record), bytes.data(), sizeof(record));
  conv::BottleneckImage image;
  image.facts = record.facts;
  for (int i = 0; i < conv::kBottleneckParts; ++i) {
    image.facts.part[i] = {};
    if (!image.facts.Has(i)) continue;
    image.part[i] = PolicyOf(policy, BottleneckPart(i)).image();
    image.facts.part[i] = image.part[i].facts;
  }
  const conv::ConvFacts& third = image.facts.part[static_cast<int>(BottleneckPart::kThird)];
  image.facts.tile.src_layout = third.src_layout, image.facts.tile.dst_layout = third.dst_layout;
  image.facts.tile.config.other = conv::BottleneckConfig::kName;
  image.at = record.at;
  image.defaults = bytes.data() + record.defaults;
  return image;
}

}  // namespace

absl::StatusOr<Bottleneck> CompileBottleneck(std::string_view source, const Options& options) {
  absl::StatusOr<std::shared_ptr<Compiled>> made = Compiled::Make(
      source, PolicyKind::kBottleneck,
      [](const Policy& policy) { return ImageOf(policy).facts.tile; }, options);
  if (!made.ok()) return made.status();
  return Bottleneck(*std::move(made));
}

Bottleneck::Bottleneck(std::shared_ptr<Compiled> state)
    : state_(std::move(state)),
      image_(std::make_shared<const conv::BottleneckImage>(ImageOf(state_->policy()))) {}

absl::StatusOr<conv::BottleneckPlan> Bottleneck::Plan(
    const conv::BottleneckProblem& problem) const {
  return conv::PlanBottleneck(problem, image_->facts);
}

std::string Bottleneck::Describe(const conv::BottleneckPlan& plan) const {
  return conv::BottleneckPlanner::Describe(plan, image_->facts);
}

Values Bottleneck::values(BottleneckPart part) const {
  return Values(PolicyOf(state_->policy(), part));
}

absl::StatusOr<conv::BottleneckRun> Bottleneck::RunOf(const BottleneckArguments& args) const {
  const Arguments* const given[] = {&args.first, &args.second, &args.projection, &args.third};
  conv::BottleneckRun run;
  for (int i = 0; i < conv::kBottleneckParts; ++i) {
    if (!image_->facts.Has(i)) continue;
    absl::StatusOr<conv::ConvRun> of_part =
        state_->RunOf(NumberOf(BottleneckPart(i)), prologues::BatchExtents{}, *given[i]);
    if (!of_part.ok()) return of_part.status();
    run.part[i] = *std::move(of_part);
  }
  run.padding = args.padding;
  run.filters_are_constant = args.filters_are_constant;
  return run;
}

absl::Status Bottleneck::Run(const conv::BottleneckPlan& plan, const BottleneckArguments& args,
                             Stream stream, const gemm::LaunchOptions& options) const {
  const absl::StatusOr<conv::BottleneckRun> run = RunOf(args);
  if (!run.ok()) return run.status();
  if (absl::Status s = conv::CheckArguments(*image_, plan, *run); !s.ok()) return s;
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  if (absl::Status s = Prepare(); !s.ok()) return s;  // without a GPU there are no tensor maps
  const conv::BottleneckLaunch made(*image_, plan, *run, &EncodeByDriver);
  if (!made.status.ok()) return made.status;
  return state_->module().Run(LaunchFacts(plan, image_->facts.tile), made.launch, stream, options);
}

absl::Status Bottleneck::RunOnCpu(const conv::BottleneckPlan& plan, const BottleneckArguments& args,
                                  const gemm::CpuOptions& options) const {
  const absl::StatusOr<const Twin*> twin = state_->GetTwin();
  if (!twin.ok()) return twin.status();
  const absl::StatusOr<conv::BottleneckRun> run = RunOf(args);
  if (!run.ok()) return run.status();
  const gemm::CpuBackEnd on{options, nullptr, (*twin)->table().run};
  return conv::Start(*image_, plan, *run, on, &gemm::CpuBackEnd::RunStarter);
}

absl::Status Bottleneck::Prepare() const {
  return state_->module().Prepare(0);
}

absl::Status Bottleneck::PrepareOnCpu() const {
  return state_->GetTwin().status();
}

absl::Status Bottleneck::CompileFor(int compute_capability) const {
  const absl::StatusOr<Program> program = state_->CompileFor(compute_capability);
  if (!program.ok()) return program.status();
  return program->Link(0, state_->kept()).status();
}

}  // namespace weft::rtc
