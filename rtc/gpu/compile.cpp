#include "weft/rtc/gpu/compile.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "weft/rtc/cache/digest.hpp"
#include "weft/rtc/gpu/cubin.hpp"
#include "weft/rtc/gpu/nvrtc.hpp"
#include "weft/rtc/text/headers.hpp"
#include "weft/rtc/text/messages.hpp"
#include "weft/rtc/text/source_text.hpp"

namespace weft::rtc {
namespace {

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
  for (const Header& header : Headers()) {
    if (absl::StrContains(header.path, "/cpu/")) continue;
    all.emplace_back(header.path, header.text.data());
  }
  return all;
}

// The architecture's name, as both NVRTC and nvJitLink know it.
std::string Architecture(int compute_capability) {
  return absl::StrCat("sm_", compute_capability, compute_capability == 90 ? "a" : "");
}

std::string ProgramText(std::string_view source, const CompileOptions& options) {
  return absl::StrCat("#include \"weft/rtc/gpu/program.cuh\"\n",
                      internal::PolicyText(source, options.policy, options.values, options.kind),
                      "extern \"C\" __device__ WeftData ", kFacts, " = WEFT_RECORD;\n");
}

std::vector<std::string> Flags(const std::string& include, int compute_capability) {
  std::vector<std::string> flags = {
      "-std=c++20", absl::StrCat("-arch=", Architecture(compute_capability)), "-default-device",
      "--fmad=false", "-dlto", "-include=weft/rtc/standard/builtins.hpp",
      // Pragmas of g++'s; members that a policy declares anew.
      "-diag-suppress=161,1097"};
  if (!include.empty()) flags.push_back(absl::StrCat("-I", include));
  return flags;
}

// variable: one that stays though no kernel uses it; or empty.
std::vector<std::string> LinkOptions(int compute_capability, const std::string& kernel,
                                     const std::string& variable) {
  // -fma=0: with -dlto it is nvJitLink that would make one rounding of a product and a sum, whatever NVRTC was told.
  std::vector<std::string> options = {absl::StrCat("-arch=", Architecture(compute_capability)),
                                      "-lto", "-fma=0", "-optimize-unused-variables",
                                      absl::StrCat("-kernels-used=", kernel)};
  if (!variable.empty()) options.push_back(absl::StrCat("-variables-used=", variable));
  return options;
}

// Code in the cache: its kernels' names, a line each, an empty line, the size of its variable's bytes, these,
// and the code.
std::string Packed(const LinkInput& compiled, const std::string& variable) {
  std::string text;
  for (const std::string& name : compiled.names) absl::StrAppend(&text, name, "\n");
  absl::StrAppend(&text, "\n", variable.size(), "\n", variable, compiled.code);
  return text;
}

bool Unpack(const std::string& text, LinkInput* compiled, std::string* variable) {
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
  *variable = text.substr(at, bytes);
  compiled->code = text.substr(at + bytes);
  return true;
}

}  // namespace

absl::StatusOr<Code> Code::Compile(const Source& source, int compute_capability, const Kept& kept) {
  const std::vector<std::string> flags = Flags(source.include, compute_capability);
  const std::vector<std::string> link_options =
      LinkOptions(compute_capability, kNoKernel, source.variable);
  const std::string all_options =
      absl::StrCat(absl::StrJoin(flags, " "), "; ", absl::StrJoin(link_options, " "), "; ",
                   absl::StrJoin(source.kernels, " "));
  const std::string_view parts[] = {"program", source.text, HeadersDigest(), all_options};
  Code code;
  code.compute_capability_ = compute_capability;
  code.of_ = source.variable;
  code.key_ = Digest(parts);
  LinkInput compiled;
  if (kept.archive != nullptr) {
    const std::optional<std::string> found = kept.archive->Find(code.key_);
    if (found.has_value() && Unpack(*found, &compiled, &code.variable_) &&
        compiled.names.size() == source.kernels.size()) {
      code.names_ = std::move(compiled.names);
      auto again = std::make_shared<Source>(source);
      again->error = [](const std::string& messages) {  // it has been compiled before
        return absl::InternalError(absl::StrCat("rtc: it does not compile any more: ", messages));
      };
      code.source_ = std::move(again);
      return code;
    }
    compiled = {};
    code.variable_.clear();
  }
  absl::StatusOr<const Nvrtc*> nvrtc = Nvrtc::Get();
  if (!nvrtc.ok()) return nvrtc.status();
  if (absl::Status s = (*nvrtc)->CheckArchitecture(compute_capability); !s.ok()) return s;
  if (kept.cache != nullptr) {
    const std::string_view by_compiler[] = {code.key_, (*nvrtc)->version()};
    code.cache_key_ = Digest(by_compiler);
    const std::optional<std::string> found = kept.cache->Read(code.cache_key_);
    code.from_cache_ = found.has_value() && Unpack(*found, &compiled, &code.variable_);
  }
  if (!code.from_cache_) {
    absl::StatusOr<LinkInput> made =
        (*nvrtc)->Compile(source.text, source.file, AllHeaders(), flags, source.kernels);
    const auto error = [&](const absl::Status& s) {
      return absl::IsInvalidArgument(s) ? source.error(std::string(s.message())) : s;
    };
    if (!made.ok()) return error(made.status());
    compiled = *std::move(made);
    if (!source.variable.empty()) {
      absl::StatusOr<std::string> linked = (*nvrtc)->Link(compiled.code, link_options);
      if (!linked.ok()) return error(linked.status());
      absl::StatusOr<std::string> found = VariableOf(*linked, source.variable);
      if (!found.ok()) return found.status();
      code.variable_ = *std::move(found);
    }
    if (kept.cache != nullptr) {
      code.cache_status_ = kept.cache->Write(code.cache_key_, Packed(compiled, code.variable_));
    }
  }
  if (kept.archive != nullptr) {  // which has cubins, and needs nothing to link
    kept.archive->Add(code.key_, Packed({.code = {}, .names = compiled.names}, code.variable_));
  }
  code.names_ = std::move(compiled.names);
  code.code_ = std::make_shared<const std::string>(std::move(compiled.code));
  return code;
}

absl::StatusOr<std::string> Code::Link(const std::string& name, const Kept& kept) const {
  const std::string_view in_archive[] = {key_, name}, in_cache[] = {cache_key_, name};
  const std::string key = Digest(in_archive);
  if (kept.archive != nullptr) {
    if (std::optional<std::string> found = kept.archive->Find(key)) return *std::move(found);
  }
  if (code_ == nullptr) {
    const absl::StatusOr<Code> again = Compile(*source_, compute_capability_, kept.cache);
    if (!again.ok()) return again.status();
    absl::StatusOr<std::string> cubin = again->Link(name, kept.cache);
    if (cubin.ok() && kept.archive != nullptr) kept.archive->Add(key, *cubin);
    return cubin;
  }
  const Cache* const cache = cache_key_.empty() ? nullptr : kept.cache;
  const std::string cache_key = cache != nullptr ? Digest(in_cache) : "";
  std::optional<std::string> cubin = cache != nullptr ? cache->Read(cache_key) : std::nullopt;
  if (!cubin.has_value()) {
    absl::StatusOr<const Nvrtc*> nvrtc = Nvrtc::Get();
    if (!nvrtc.ok()) return nvrtc.status();
    absl::StatusOr<std::string> linked =
        (*nvrtc)->Link(*code_, LinkOptions(compute_capability_, name, of_));
    if (!linked.ok()) return linked;
    cubin = *std::move(linked);
    // Where it cannot be kept, Compile has said so.
    if (cache != nullptr) cache->Write(cache_key, *cubin).IgnoreError();
  }
  if (kept.archive != nullptr) kept.archive->Add(key, *cubin);
  return *std::move(cubin);
}

const std::string& Program::entry(int index) const {
  static const std::string none;
  const bool has = index >= 0 && index < static_cast<int>(entries_.size());
  return has ? entries_[static_cast<std::size_t>(index)] : none;
}

absl::StatusOr<Program> Program::Compile(std::string_view source, const CompileOptions& options,
                                         const Kept& kept) {
  Code::Source text = {.text = ProgramText(source, options),
                       .file = internal::kSourceName,
                       .include = options.include,
                       .kernels = {},
                       .variable = kFacts,
                       .error = [&](const std::string& messages) {
                         return internal::CompileError(messages, options.policy);
                       }};
  for (int i = 0; i < kMostKernels; ++i) {
    text.kernels.push_back(
        absl::StrCat("weft::arch::Entry<weft::rtc::KernelOf<WeftPolicy, ", i, ">>"));
  }
  absl::StatusOr<Code> code = Code::Compile(text, options.compute_capability, kept);
  if (!code.ok()) return code.status();
  absl::StatusOr<Policy> policy = Policy::FromBytes(code->variable());
  if (!policy.ok()) return policy.status();
  Program program(*std::move(policy), *std::move(code));
  program.entries_ = program.code_.names();
  for (std::size_t i = 0; i < program.entries_.size(); ++i) {
    if (program.policy_.kernel(static_cast<int>(i)).threads == 0) program.entries_[i].clear();
  }
  return program;
}

absl::StatusOr<std::string> Program::Link(int kernel, const Kept& kept) const {
  if (entry(kernel).empty()) {
    return absl::InternalError(absl::StrCat("rtc: the policy has no kernel ", kernel));
  }
  absl::StatusOr<std::string> cubin = code_.Link(entry(kernel), kept);
  if (absl::IsInvalidArgument(cubin.status())) {
    return internal::CompileError(std::string(cubin.status().message()),
                                  absl::StrCat("of kernel ", entry(kernel)));
  }
  return cubin;
}

}  // namespace weft::rtc
