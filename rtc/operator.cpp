#include "weft/rtc/operator.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "weft/conv/launch/start.hpp"
#include "weft/rtc/source_text.hpp"

namespace weft::rtc {
namespace {

// The value as the type of a member, if that can hold it.
template <class Type>
bool Put(double value, unsigned char* to) {
  if constexpr (std::is_integral_v<Type>) {
    const bool whole = value == std::floor(value);
    if (!whole || value < static_cast<double>((std::numeric_limits<Type>::min)()) ||
        value > static_cast<double>((std::numeric_limits<Type>::max)())) {
      return false;
    }
    // Of int64 the greatest double is one too many.
    if (sizeof(Type) == 8 && value >= 9223372036854775808.0) return false;
  }
  const Type number = static_cast<Type>(value);
  std::memcpy(to, &number, sizeof number);
  return true;
}
template <class Type>
bool PutShort(double value, unsigned char* to) {
  const Type number = Type::FromFloat(static_cast<float>(value));
  std::memcpy(to, &number, sizeof number);
  return true;
}
bool PutNumber(char letter, double value, unsigned char* to) {
  switch (letter) {
    case 'b':
      return Put<std::int8_t>(value, to);
    case 'B':
      return Put<std::uint8_t>(value, to);
    case 'i':
      return Put<std::int32_t>(value, to);
    case 'q':
      return Put<std::int64_t>(value, to);
    case 'f':
      return Put<float>(value, to);
    case 'd':
      return Put<double>(value, to);
    case 'o':
      return Put<bool>(value, to);
    case 'e':
      return PutShort<Half>(value, to);
    default:
      return PutShort<Bfloat16>(value, to);
  }
}

template <class Type>
double Take(const unsigned char* from) {
  Type number;
  std::memcpy(&number, from, sizeof number);
  if constexpr (std::is_arithmetic_v<Type>) {
    return static_cast<double>(number);
  } else {
    return static_cast<double>(number.ToFloat());
  }
}
double TakeNumber(char letter, const unsigned char* from) {
  switch (letter) {
    case 'b':
      return Take<std::int8_t>(from);
    case 'B':
      return Take<std::uint8_t>(from);
    case 'i':
      return Take<std::int32_t>(from);
    case 'q':
      return Take<std::int64_t>(from);
    case 'f':
      return Take<float>(from);
    case 'd':
      return Take<double>(from);
    case 'o':
      return Take<bool>(from);
    case 'e':
      return Take<Half>(from);
    default:
      return Take<Bfloat16>(from);
  }
}

absl::Status NotA(const std::string& name, const Value& value, const char* wanted) {
  const char* const kind = value.letter == 'p'   ? "an address; give it by SetAddress"
                           : value.letter == '?' ? "of a type that cannot be set by name"
                           : value.count != 1    ? "an array, which cannot be set by name"
                                                 : "a number; give it by Set";
  return absl::InvalidArgumentError(absl::StrCat("rtc: ", name, " is not ", wanted, " but ", kind));
}

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

std::string_view View(const Value& value) {
  return value.name;
}

}  // namespace

Values::Values(Twin twin) : twin_(std::move(twin)) {
  for (int i = 0; i < 3; ++i) {
    const PartBytes& part = twin_.table().part[i];
    const auto size = static_cast<std::size_t>(part.size);
    parts_[i].resize((size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    std::memcpy(parts_[i].data(), part.bytes, size);
  }
}

std::vector<std::string> Values::names() const {
  std::vector<std::string> names;
  for (int i = 0; i < twin_.table().value_count; ++i) {
    const Value& value = twin_.table().values[i];
    if (value.owners > 0) names.emplace_back(value.name);
  }
  return names;
}

absl::StatusOr<const Value*> Values::Find(std::string_view name) const {
  for (int i = 0; i < twin_.table().value_count; ++i) {
    const Value& value = twin_.table().values[i];
    if (View(value) != name || value.owners == 0) continue;
    if (value.owners == 1) return &value;
    return absl::InvalidArgumentError(absl::StrCat(
        "rtc: ", value.owners, " functors of the policy have a member ", std::string(name),
        "; name one with its functor, as Functor.", std::string(name), ", in options.values"));
  }
  const std::vector<std::string> known = names();
  return absl::InvalidArgumentError(absl::StrCat(
      "rtc: no functor of the policy has a member ", std::string(name), " that can be set; ",
      known.empty() ? "there is none, unless options.values names it"
                    : absl::StrCat("there are ", absl::StrJoin(known, ", "))));
}

unsigned char* Values::At(const Value& value) {
  return reinterpret_cast<unsigned char*>(parts_[static_cast<int>(value.part)].data()) +
         value.offset;
}

absl::Status Values::Set(std::string_view name, double number) {
  const absl::StatusOr<const Value*> value = Find(name);
  if (!value.ok()) return value.status();
  const Value& v = **value;
  if (v.letter == 'p' || v.letter == '?' || v.count != 1) return NotA(v.name, v, "a number");
  if (!PutNumber(v.letter, number, At(v))) {
    return absl::OutOfRangeError(
        absl::StrCat("rtc: ", v.name, "=", number, " is no value of its type, an integer"));
  }
  return absl::OkStatus();
}

absl::Status Values::SetAddress(std::string_view name, const void* address) {
  const absl::StatusOr<const Value*> value = Find(name);
  if (!value.ok()) return value.status();
  const Value& v = **value;
  if (v.letter != 'p' || v.count != 1) return NotA(v.name, v, "an address");
  std::memcpy(At(v), &address, sizeof address);
  return absl::OkStatus();
}

absl::StatusOr<double> Values::Get(std::string_view name) const {
  const absl::StatusOr<const Value*> value = Find(name);
  if (!value.ok()) return value.status();
  const Value& v = **value;
  if (v.letter == 'p' || v.letter == '?' || v.count != 1) return NotA(v.name, v, "a number");
  return TakeNumber(v.letter, static_cast<const unsigned char*>(bytes(v.part)) + v.offset);
}

absl::StatusOr<Operator> Compile(std::string_view source, const Options& options) {
  const std::string policy = options.policy.empty() ? LastTypeOf(source) : options.policy;
  if (policy.empty()) {
    return absl::InvalidArgumentError(
        "rtc: the source defines no type; define a policy, such as `struct MyConv : "
        "weft::conv::S8Conv4<> {};`, or name one in options.policy");
  }
  std::vector<std::string> values = options.values;
  for (std::string& name : PossibleMembersOf(source)) {
    if (std::find(values.begin(), values.end(), name) == values.end()) {
      values.push_back(std::move(name));
    }
  }
  absl::StatusOr<Twin> twin = Twin::Compile(source, {.policy = policy,
                                                     .values = std::move(values),
                                                     .include = options.include,
                                                     .compiler = options.compiler});
  if (!twin.ok()) return twin.status();
  for (const conv::ParamsImage& params : twin->table().image->params) {
    if (params.at.phase != conv::kNoPart) {
      return absl::UnimplementedError(
          "rtc: the prologue PerPhase is a deconvolution's own; use conv::Deconvolution");
    }
  }
  return Operator(policy, *std::move(twin));
}

absl::StatusOr<conv::ConvPlan> Operator::Plan(const conv::Problem& problem) const {
  return conv::ConvolutionPlanner::Make(problem, image().facts, nullptr);
}

std::string Operator::Describe(const conv::ConvPlan& plan) const {
  return conv::ConvolutionPlanner::Describe(plan, image().facts);
}

absl::StatusOr<conv::ConvRun> Operator::RunOf(const conv::ConvPlan& plan,
                                              const Arguments& args) const {
  const bool right = args.filter.layout == std::string_view(table().filter_layout) &&
                     args.filter.letter == table().letters.filter;
  if (!right && args.filter.run.data != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rtc: filter is packed as ", args.filter.layout, " of ", NameOf(args.filter.letter),
        ", and the policy takes ", table().filter_layout, " of ", NameOf(table().letters.filter),
        "; pack it with weft::PackFilter<FilterLayout>, of a depthwise policy with "
        "weft::PackDepthwiseFilter"));
  }
  const auto bytes = [&](Part part) {
    return args.values != nullptr ? args.values->bytes(part)
                                  : table().part[static_cast<int>(part)].bytes;
  };
  conv::ConvRun run;
  run.src.address = args.src;
  run.filter = args.filter.run;
  run.filter.needed = table().filters(plan.batch);
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
  table().describe_epilogue(run.output.epilogue, &run.output);
  run.source_correction = &args.source_correction;
  run.filter_zero_point = args.filter_zero_point;
  run.window_sums = args.window_sums;
  run.filter_is_constant = args.filter_is_constant;
  run.prologue = bytes(Part::kPrologue);
  run.source_functor = bytes(Part::kSourceFunctor);
  return run;
}

absl::Status Operator::RunOnCpu(const conv::ConvPlan& plan, const conv::ConvRun& run,
                                const gemm::CpuOptions& options) const {
  const gemm::CpuBackEnd on{options, nullptr, table().run};
  return conv::Start(image(), plan, run, on, &gemm::CpuBackEnd::RunStarter);
}

absl::Status Operator::RunOnCpu(const conv::ConvPlan& plan, const Arguments& args,
                                const gemm::CpuOptions& options) const {
  const absl::StatusOr<conv::ConvRun> run = RunOf(plan, args);
  return run.ok() ? RunOnCpu(plan, *run, options) : run.status();
}

}  // namespace weft::rtc
