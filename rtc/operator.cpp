#include "weft/rtc/operator.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/conv/launch/start.hpp"
#include "weft/rtc/cpu/twin.hpp"
#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/gpu/module.hpp"
#include "weft/rtc/gpu/nvrtc.hpp"
#include "weft/rtc/text/functions.hpp"
#include "weft/rtc/text/source_text.hpp"

namespace weft::rtc {
namespace {

const char* NameOf(char letter) {
  switch (letter) {
    case 'b':
      return "int8";
    case 'B':
      return "uint8";
    case 'i':
      return "int32";
    case 'f':
      return "float";
    case 'd':
      return "double";
    case 'e':
      return "Half";
    case 'E':
      return "Bfloat16";
    default:
      return "another type";
  }
}

}  // namespace

// The source, and what was made of it.
struct Operator::State {
  std::string source, policy;
  std::vector<std::string> values;
  Options options;
  std::optional<Cache> cache;
  std::shared_ptr<Archive> archive;
  std::optional<Policy> facts;

  std::mutex mutex;  // of what follows
  absl::Status cache_status;
  std::optional<Twin> twin;
  std::optional<Program> program;  // that the facts are of
  std::optional<Module> module;    // set by Compile

  Kept kept() const { return {cache.has_value() ? &*cache : nullptr, archive.get()}; }

  void Note(const absl::Status& status) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (cache_status.ok()) cache_status = status;
  }

  // Compiles for a GPU.
  absl::StatusOr<Program> CompileFor(int compute_capability) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (program.has_value() && program->compute_capability() == compute_capability) {
        return *program;
      }
    }
    absl::StatusOr<Program> made = Program::Compile(source,
                                                    {.policy = policy,
                                                     .values = values,
                                                     .include = options.include,
                                                     .compute_capability = compute_capability},
                                                    kept());
    if (made.ok()) Note(made->cache_status());
    return made;
  }

  // Compiles for the CPU, once. The twin stays as long as the operator does.
  absl::StatusOr<const Twin*> GetTwin() {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!twin.has_value()) {
      absl::StatusOr<Twin> made = Twin::Compile(source,
                                                {.policy = policy,
                                                 .values = values,
                                                 .include = options.include,
                                                 .compiler = options.compiler},
                                                kept());
      if (!made.ok()) return made.status();
      if (facts.has_value() && !made->policy().IsSame(*facts)) {
        return absl::InternalError(
            "rtc: g++ and NVRTC lay the policy out differently; please report it, with the source");
      }
      if (cache_status.ok()) cache_status = made->cache_status();
      twin = *std::move(made);
    }
    return &*twin;
  }

  // Finds out what the policy is, from the compiler that the options say.
  absl::Status FindFacts();
};

absl::Status Operator::State::FindFacts() {
  const absl::StatusOr<int> here = ComputeCapability();
  const int capability = options.compute_capability != 0 ? options.compute_capability
                         : here.ok()                     ? *here
                                                         : 90;
  const auto by_nvrtc = [&]() -> absl::Status {
    absl::StatusOr<Program> made = CompileFor(capability);
    if (!made.ok()) return made.status();
    facts = made->policy();
    program = *std::move(made);
    return absl::OkStatus();
  };
  const auto by_gxx = [&]() -> absl::Status {
    const absl::StatusOr<const Twin*> made = GetTwin();
    if (!made.ok()) return made.status();
    facts = (*made)->policy();
    return absl::OkStatus();
  };
  // Whether there is nobody who could have read the text.
  const auto is_missing = [](const absl::Status& s) {
    return absl::IsNotFound(s) || absl::IsFailedPrecondition(s);
  };
  if (options.back_end == BackEnd::kGpu) return by_nvrtc();
  if (options.back_end == BackEnd::kCpu) return by_gxx();
  if (here.ok()) {
    absl::Status s = by_nvrtc();
    if (!is_missing(s)) return s;
    absl::Status other = by_gxx();
    return absl::IsNotFound(other) ? s : other;
  }
  absl::Status s = by_gxx();
  // Without a C++ compiler NVRTC tells the facts, too.
  return absl::IsNotFound(s) && Nvrtc::Get().ok() ? by_nvrtc() : s;
}

absl::StatusOr<Operator> Compile(std::string_view source, const Options& options) {
  auto state = std::make_shared<Operator::State>();
  state->source = std::string(source);
  state->options = options;
  state->policy = options.policy.empty() ? LastTypeOf(source) : options.policy;
  if (state->policy.empty()) {
    return absl::InvalidArgumentError(
        "rtc: the source defines no type; define a policy, such as `struct MyConv : "
        "weft::conv::S8Conv4<> {};`, or name one in options.policy");
  }
  if (source.find('\0') != source.npos) {
    return absl::InvalidArgumentError("rtc: the source has a zero byte; give C++ text");
  }
  if (absl::Status s = CheckFunctions(source); !s.ok()) return s;
  for (const std::string& name : options.values) {
    if (!internal::IsNameOfMember(name) || name.size() > std::size_t{kMostName}) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rtc: options.values has \"", name, "\"; give the name of a functor's member, such as ",
          "scale or Mine.scale, of at most ", kMostName, " characters"));
    }
  }
  state->values = options.values;
  for (std::string& name : PossibleMembersOf(source)) {
    if (std::find(state->values.begin(), state->values.end(), name) == state->values.end()) {
      state->values.push_back(std::move(name));
    }
  }
  // The key of what is kept has this text alone.
  if (options.include.empty() && !IncludesOtherFiles(source)) {
    state->archive = options.archive;
    if (options.cache_bytes > 0) {
      state->cache = Cache({.folder = options.cache_folder, .most_bytes = options.cache_bytes});
    }
  }
  if (absl::Status s = state->FindFacts(); !s.ok()) return s;
  // The module is a part of the state, and must not keep it alive.
  Operator::State* const of = state.get();
  state->module.emplace(
      *state->facts, [of](int compute_capability) { return of->CompileFor(compute_capability); },
      state->cache, state->archive);
  return Operator(std::move(state));
}

const std::string& Operator::policy() const {
  return state_->policy;
}

const Policy& Operator::facts() const {
  return *state_->facts;
}

absl::Status Operator::cache_status() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->cache_status;
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
  const bool right = args.filter.layout == std::string_view(facts().record().filter_layout) &&
                     args.filter.letter == facts().record().filter;
  if (!right && args.filter.run.data != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("rtc: filter is packed as ", args.filter.layout, " of ",
                     NameOf(args.filter.letter), ", and the policy takes ",
                     facts().record().filter_layout, " of ", NameOf(facts().record().filter),
                     "; pack it with weft::PackFilter<FilterLayout>, of a depthwise policy with "
                     "weft::PackDepthwiseFilter"));
  }
  if (args.values != nullptr && !args.values->AreOf(facts())) {
    return absl::InvalidArgumentError(
        "rtc: args.values are of another operator; make them by values() of this one");
  }
  const Twin* twin = nullptr;
  if (facts().record().asks_host) {
    const absl::StatusOr<const Twin*> made = state_->GetTwin();
    if (!made.ok()) return made.status();
    twin = *made;
  }
  const auto bytes = [&](Part part) -> const void* {
    return args.values != nullptr ? args.values->bytes(part) : facts().part(part).data();
  };
  conv::ConvRun run;
  run.src.address = args.src;
  run.filter = args.filter.run;
  run.filter.needed =
      twin != nullptr ? twin->table().filters(plan.batch) : facts().Filters(plan.batch);
  run.output.bias.address = args.bias;
  run.output.channel_alpha.address = args.channel_alpha;
  run.output.residual.address = args.residual;
  run.output.dst.address = args.dst;
  run.output.alpha = &args.alpha, run.output.gamma = &args.gamma;
  run.output.beta = args.beta;
  run.output.output_scale = args.output_scale, run.output.zero_point = args.zero_point;
  run.output.alpha_number = args.alpha, run.output.gamma_number = args.gamma;
  run.output.alpha_is_one = args.alpha == 1.0f, run.output.gamma_is_one = args.gamma == 1.0f;
  run.output.gamma_is_zero = args.gamma == 0.0f;
  run.output.epilogue = bytes(Part::kEpilogue);
  if (twin != nullptr) {
    twin->table().describe_epilogue(run.output.epilogue, &run.output);
  } else {
    facts().DescribeEpilogue(run.output.epilogue, &run.output);
  }
  run.source_correction = &args.source_correction;
  run.filter_zero_point = args.filter_zero_point;
  run.window_sums = args.window_sums;
  run.filter_is_constant = args.filter_is_constant;
  run.dst_channels = args.dst_channels;
  run.prologue = bytes(Part::kPrologue);
  run.source_functor = bytes(Part::kSourceFunctor);
  for (const conv::ParamsImage& params : image().params) {
    if (params.at.phase == conv::kNoPart) continue;
    if (args.phase == nullptr) {
      return absl::InvalidArgumentError(
          "rtc: the policy's prologue is PerPhase, a transposed convolution's; set phase to the "
          "place "
          "of one of conv::PhasesOf(problem), and run them all");
    }
    run.prologue = run.phase = args.phase;
  }
  return run;
}

absl::Status Operator::Run(const conv::ConvPlan& plan, const conv::ConvRun& run, Stream stream,
                           const gemm::LaunchOptions& options) const {
  return state_->module->Run(plan, run, stream, options);
}

absl::Status Operator::Run(const conv::ConvPlan& plan, const Arguments& args, Stream stream,
                           const gemm::LaunchOptions& options) const {
  const absl::StatusOr<conv::ConvRun> run = RunOf(plan, args);
  return run.ok() ? Run(plan, *run, stream, options) : run.status();
}

absl::Status Operator::Prepare(const conv::ConvPlan& plan) const {
  return state_->module->Prepare(plan);
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
