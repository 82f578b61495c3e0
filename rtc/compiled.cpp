#include "weft/rtc/compiled.hpp"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/gpu/nvrtc.hpp"
#include "weft/rtc/text/functions.hpp"

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

void Compiled::Note(const absl::Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cache_status_.ok()) cache_status_ = status;
}

absl::Status Compiled::cache_status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cache_status_;
}

absl::StatusOr<Program> Compiled::CompileFor(int compute_capability) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (program_.has_value() && program_->compute_capability() == compute_capability) {
      return *program_;
    }
  }
  absl::StatusOr<Program> made = Program::Compile(source_,
                                                  {.policy = policy_,
                                                   .kind = kind_,
                                                   .values = values_,
                                                   .include = options_.include,
                                                   .compute_capability = compute_capability},
                                                  kept());
  if (made.ok()) Note(made->cache_status());
  return made;
}

absl::StatusOr<const Twin*> Compiled::GetTwin() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!twin_.has_value()) {
    absl::StatusOr<Twin> made = Twin::Compile(source_,
                                              {.policy = policy_,
                                               .kind = kind_,
                                               .values = values_,
                                               .include = options_.include,
                                               .compiler = options_.compiler},
                                              kept());
    if (!made.ok()) return made.status();
    if (facts_.has_value() && !made->policy().IsSame(*facts_)) {
      return absl::InternalError(
          "rtc: g++ and NVRTC lay the policy out differently; please report it, with the source");
    }
    if (cache_status_.ok()) cache_status_ = made->cache_status();
    twin_ = *std::move(made);
  }
  return &*twin_;
}

absl::Status Compiled::FindFacts() {
  const absl::StatusOr<int> here = ComputeCapability();
  const int capability = options_.compute_capability != 0 ? options_.compute_capability
                         : here.ok()                      ? *here
                                                          : 90;
  const auto by_nvrtc = [&]() -> absl::Status {
    absl::StatusOr<Program> made = CompileFor(capability);
    if (!made.ok()) return made.status();
    facts_ = made->policy();
    program_ = *std::move(made);
    return absl::OkStatus();
  };
  const auto by_gxx = [&]() -> absl::Status {
    const absl::StatusOr<const Twin*> made = GetTwin();
    if (!made.ok()) return made.status();
    facts_ = (*made)->policy();
    return absl::OkStatus();
  };
  // Whether there is nobody who could have read the text.
  const auto is_missing = [](const absl::Status& s) {
    return absl::IsNotFound(s) || absl::IsFailedPrecondition(s);
  };
  if (options_.back_end == BackEnd::kGpu) return by_nvrtc();
  if (options_.back_end == BackEnd::kCpu) return by_gxx();
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

absl::StatusOr<std::shared_ptr<Compiled>> Compiled::Make(std::string_view source, PolicyKind kind,
                                                         TileOf tile_of, const Options& options) {
  const std::shared_ptr<Compiled> made(new Compiled);
  made->source_ = std::string(source);
  made->kind_ = kind;
  made->options_ = options;
  made->policy_ = options.policy.empty() ? LastTypeOf(source) : options.policy;
  if (made->policy_.empty()) {
    return absl::InvalidArgumentError(
        kind == PolicyKind::kBottleneck
            ? "rtc: the source defines no type; define a policy, a struct that inherits "
              "weft::conv::S8Bottleneck<...>, or name one in options.policy"
            : "rtc: the source defines no type; define a policy, such as `struct MyConv : "
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
  made->values_ = options.values;
  for (std::string& name : PossibleMembersOf(source)) {
    if (std::find(made->values_.begin(), made->values_.end(), name) == made->values_.end()) {
      made->values_.push_back(std::move(name));
    }
  }
  // The key of what is kept has this text alone.
  if (options.include.empty() && !IncludesOtherFiles(source)) {
    made->archive_ = options.archive;
    if (options.cache_bytes > 0) {
      made->cache_ = Cache({.folder = options.cache_folder, .most_bytes = options.cache_bytes});
    }
  }
  if (absl::Status s = made->FindFacts(); !s.ok()) return s;
  // The module is a part of it, and must not keep it alive.
  Compiled* const of = made.get();
  made->module_.emplace(
      of->policy(), tile_of(of->policy()),
      [of](int compute_capability) { return of->CompileFor(compute_capability); }, of->cache_,
      of->archive_);
  return made;
}

absl::StatusOr<conv::ConvRun> Compiled::RunOf(int part, const prologues::BatchExtents& batch,
                                              const Arguments& args) {
  const Policy& facts = part == 0 ? policy() : policy().other(part - 1);
  const bool right = args.filter.layout == std::string_view(facts.record().filter_layout) &&
                     args.filter.letter == facts.record().filter;
  if (!right && args.filter.run.data != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("rtc: filter is packed as ", args.filter.layout, " of ",
                     NameOf(args.filter.letter), ", and the policy takes ",
                     facts.record().filter_layout, " of ", NameOf(facts.record().filter),
                     "; pack it with weft::PackFilter<FilterLayout>, of a depthwise policy with "
                     "weft::PackDepthwiseFilter"));
  }
  if (args.values != nullptr && !args.values->AreOf(facts)) {
    return absl::InvalidArgumentError(
        "rtc: args.values are of another operator; make them by values() of this one");
  }
  const Twin* twin = nullptr;
  if (facts.record().asks_host) {
    const absl::StatusOr<const Twin*> made = GetTwin();
    if (!made.ok()) return made.status();
    twin = *made;
  }
  const auto bytes = [&](Part of) -> const void* {
    return args.values != nullptr ? args.values->bytes(of) : facts.part(of).data();
  };
  conv::ConvRun run;
  run.src.address = args.src;
  run.filter = args.filter.run;
  run.filter.needed = twin != nullptr ? twin->table().filters(batch) : facts.Filters(batch);
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
    twin->table().describe_epilogue[part](run.output.epilogue, &run.output);
  } else {
    facts.DescribeEpilogue(run.output.epilogue, &run.output);
  }
  run.source_correction = &args.source_correction;
  run.filter_zero_point = args.filter_zero_point;
  run.window_sums = args.window_sums;
  run.filter_is_constant = args.filter_is_constant;
  run.dst_channels = args.dst_channels;
  run.prologue = bytes(Part::kPrologue);
  run.source_functor = bytes(Part::kSourceFunctor);
  return run;
}

}  // namespace weft::rtc
