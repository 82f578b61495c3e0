#include "weft/rtc/gpu/compile.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "weft/rtc/cache/digest.hpp"
#include "weft/rtc/gpu/headers.hpp"
#include "weft/rtc/gpu/nvrtc.hpp"

namespace weft::rtc {
namespace {

constexpr char kFile[] = "policy", kPolicyLine[] = "policy name";
constexpr char kFacts[] = "weft_policy";
constexpr char kNoKernel[] = "weft_no_kernel";  // a name that no kernel has

// Standard headers, and CUDA's, that Weft's device headers include: rtc/standard has what they use.
constexpr const char* kStandardHeaders[] = {
    "algorithm",     "array",   "bit",         "cassert",    "cfloat",
    "climits",       "cmath",   "complex",     "concepts",   "cstddef",
    "cstdint",       "cstdlib", "cstring",     "functional", "initializer_list",
    "limits",        "memory",  "new",         "numeric",    "string",
    "string_view",   "tuple",   "type_traits", "utility",    "vector",
    "cuda_runtime.h"};

std::vector<std::pair<const char*, const char*>> AllHeaders() {
  std::vector<std::pair<const char*, const char*>> all = {{"nv/target", ""}};
  for (const char* name : kStandardHeaders) {
    all.emplace_back(name, "#include \"weft/rtc/standard/library.hpp\"\n");
  }
  for (const Header& header : Headers()) all.emplace_back(header.path, header.text.data());
  return all;
}

// The architecture's name, as both NVRTC and nvJitLink know it.
std::string Architecture(int compute_capability) {
  return absl::StrCat("sm_", compute_capability, compute_capability == 90 ? "a" : "");
}

std::string ProgramText(std::string_view source, const std::string& policy) {
  return absl::StrCat("#include \"weft/rtc/gpu/program.hpp\"\n#line 1 \"", kFile, "\"\n",
                      std::string(source), "\n#line 1 \"", kPolicyLine,
                      "\"\nusing WeftPolicy = ", policy,
                      ";\n#line 1 \"weft\"\n"
                      "extern \"C\" __device__ weft::rtc::PolicyData<WeftPolicy> ",
                      kFacts, " = {weft::rtc::RecordOf<WeftPolicy>()};\n");
}

std::vector<std::string> Options(int compute_capability) {
  return {"-std=c++20", absl::StrCat("-arch=", Architecture(compute_capability)), "-default-device",
          "--fmad=false", "-dlto", "-include=weft/rtc/standard/builtins.hpp",
          // Pragmas of g++'s; members that a policy declares anew.
          "-diag-suppress=161,1097"};
}

std::vector<std::string> LinkOptions(int compute_capability, const std::string& kernel) {
  return {absl::StrCat("-arch=", Architecture(compute_capability)), "-lto",
          "-optimize-unused-variables", absl::StrCat("-variables-used=", kFacts),
          absl::StrCat("-kernels-used=", kernel)};
}

// What to say of the compiler's messages: those about lines of the user's, and the sentences of Weft's own
// checks; if there are none, the first lines.
std::string FirstErrors(const std::string& log) {
  constexpr std::size_t kMostLines = 8;
  std::vector<absl::string_view> ours, first;
  bool follows = false;  // the line belongs to the message before it
  for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "Info: ")) continue;
    if (first.size() < kMostLines) first.push_back(line);
    const bool shows = absl::StartsWith(line, " ");
    if (!shows) {
      follows =
          absl::StrContains(line, "error") &&
          (absl::StartsWith(line, absl::StrCat(kFile, "(")) || absl::StrContains(line, "weft: "));
    }
    const bool where =
        absl::StrContains(line, "instantiation of") || absl::StrContains(line, "detected during");
    if (follows && !where && ours.size() < kMostLines) ours.push_back(line);
  }
  return absl::StrJoin(ours.empty() ? first : ours, "\n");
}

absl::Status CompileError(const std::string& log, const std::string& policy) {
  const std::string named = absl::StrCat(kPolicyLine, "(1): error");
  if (absl::StrContains(log, named) && !absl::StrContains(log, absl::StrCat(kFile, "("))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rtc: options.policy=", policy, " names no type of the source; name the policy struct"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("rtc: the policy ", policy, " does not compile:\n", FirstErrors(log)));
}

// A program in the cache: its kernels' names, a line each, an empty line, the size of its facts, these,
// and its code.
std::string Packed(const LinkInput& compiled, const std::string& facts) {
  std::string text;
  for (const std::string& name : compiled.names) absl::StrAppend(&text, name, "\n");
  absl::StrAppend(&text, "\n", facts.size(), "\n", facts, compiled.code);
  return text;
}

bool Unpack(const std::string& text, LinkInput* compiled, std::string* facts) {
  std::size_t at = 0;
  const auto line = [&]() -> std::optional<std::string> {
    const std::size_t end = text.find('\n', at);
    if (end == text.npos) return std::nullopt;
    std::string found = text.substr(at, end - at);
    at = end + 1;
    return found;
  };
  for (std::optional<std::string> name = line(); name.has_value() && !name->empty();
       name = line()) {
    compiled->names.push_back(*name);
  }
  const std::optional<std::string> size = line();
  std::size_t bytes = 0;
  if (!size.has_value() || !absl::SimpleAtoi(*size, &bytes) || bytes > text.size() - at)
    return false;
  *facts = text.substr(at, bytes);
  compiled->code = text.substr(at + bytes);
  return true;
}

}  // namespace

const std::string& HeadersDigest() {
  static const std::string digest = [] {
    std::vector<std::string_view> parts;
    for (const Header& header : Headers())
      parts.push_back(header.path), parts.push_back(header.text);
    return Digest(parts);
  }();
  return digest;
}

const std::string& Program::entry(int index) const {
  static const std::string none;
  const bool has = index >= 0 && index < static_cast<int>(entries_.size());
  return has ? entries_[static_cast<std::size_t>(index)] : none;
}

absl::StatusOr<Program> Program::Compile(std::string_view source, const CompileOptions& options,
                                         const Cache* cache) {
  absl::StatusOr<const Nvrtc*> nvrtc = Nvrtc::Get();
  if (!nvrtc.ok()) return nvrtc.status();
  const int capability = options.compute_capability;
  const std::string text = ProgramText(source, options.policy);
  const std::vector<std::string> compile_options = Options(capability);
  const std::string all_options =
      absl::StrCat(absl::StrJoin(compile_options, " "), "; ",
                   absl::StrJoin(LinkOptions(capability, kNoKernel), " "));
  const std::string_view parts[] = {text, HeadersDigest(), all_options, (*nvrtc)->version()};
  const std::string key = Digest(parts);

  LinkInput compiled;
  std::string facts;
  bool from_cache = false;
  absl::Status cache_status;
  if (cache != nullptr) {
    const std::optional<std::string> kept = cache->Read(key);
    from_cache = kept.has_value() && Unpack(*kept, &compiled, &facts);
  }
  if (!from_cache) {
    std::vector<std::string> expressions;
    for (int i = 0; i < kMostKernels; ++i) {
      expressions.push_back(
          absl::StrCat("weft::arch::Entry<weft::rtc::KernelOf<WeftPolicy, ", i, ">>"));
    }
    absl::StatusOr<LinkInput> made =
        (*nvrtc)->Compile(text, kFile, AllHeaders(), compile_options, expressions);
    if (absl::IsInvalidArgument(made.status())) {
      return CompileError(std::string(made.status().message()), options.policy);
    }
    if (!made.ok()) return made.status();
    compiled = *std::move(made);
    absl::StatusOr<std::string> linked =
        (*nvrtc)->Link(compiled.code, LinkOptions(capability, kNoKernel));
    if (!linked.ok()) return CompileError(std::string(linked.status().message()), options.policy);
    absl::StatusOr<std::string> found = VariableOf(*linked, kFacts);
    if (!found.ok()) return found.status();
    facts = *std::move(found);
    if (cache != nullptr) cache_status = cache->Write(key, Packed(compiled, facts));
  }
  absl::StatusOr<OwnedImage> image = OwnedImage::FromBytes(facts);
  if (!image.ok()) return image.status();
  Program program(*std::move(image), capability);
  program.key_ = key;
  program.code_ = std::make_shared<const std::string>(std::move(compiled.code));
  program.entries_ = std::move(compiled.names);
  for (std::size_t i = 0; i < program.entries_.size(); ++i) {
    if (program.image_.kernel(static_cast<int>(i)).threads == 0) program.entries_[i].clear();
  }
  program.cache_status_ = cache_status;
  program.from_cache_ = from_cache;
  return program;
}

absl::StatusOr<std::string> Program::Link(int kernel, const Cache* cache) const {
  if (entry(kernel).empty()) {
    return absl::InternalError(absl::StrCat("rtc: the policy has no kernel ", kernel));
  }
  const std::string_view parts[] = {key_, entry(kernel)};
  const std::string key = Digest(parts);
  if (cache != nullptr) {
    if (std::optional<std::string> kept = cache->Read(key)) return *std::move(kept);
  }
  absl::StatusOr<const Nvrtc*> nvrtc = Nvrtc::Get();
  if (!nvrtc.ok()) return nvrtc.status();
  absl::StatusOr<std::string> cubin =
      (*nvrtc)->Link(*code_, LinkOptions(compute_capability_, entry(kernel)));
  if (!cubin.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rtc: the policy's kernel does not compile:\n",
                     FirstErrors(std::string(cubin.status().message()))));
  }
  // Where it cannot be kept, Compile has said so.
  if (cache != nullptr) cache->Write(key, *cubin).IgnoreError();
  return cubin;
}

}  // namespace weft::rtc
