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
                      internal::PolicyText(source, options.policy, options.values),
                      "extern \"C\" __device__ WeftData ", kFacts, " = WEFT_RECORD;\n");
}

std::vector<std::string> Flags(const CompileOptions& options) {
  std::vector<std::string> flags = {
      "-std=c++20", absl::StrCat("-arch=", Architecture(options.compute_capability)),
      "-default-device", "--fmad=false", "-dlto", "-include=weft/rtc/standard/builtins.hpp",
      // Pragmas of g++'s; members that a policy declares anew.
      "-diag-suppress=161,1097"};
  if (!options.include.empty()) flags.push_back(absl::StrCat("-I", options.include));
  return flags;
}

std::vector<std::string> LinkOptions(int compute_capability, const std::string& kernel) {
  // -fma=0: with -dlto it is nvJitLink that would make one rounding of a product and a sum, whatever NVRTC was told.
  return {absl::StrCat("-arch=", Architecture(compute_capability)),
          "-lto",
          "-fma=0",
          "-optimize-unused-variables",
          absl::StrCat("-variables-used=", kFacts),
          absl::StrCat("-kernels-used=", kernel)};
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
  if (absl::Status s = (*nvrtc)->CheckArchitecture(capability); !s.ok()) return s;
  const std::string text = ProgramText(source, options);
  const std::vector<std::string> flags = Flags(options);
  const std::string all_options = absl::StrCat(
      absl::StrJoin(flags, " "), "; ", absl::StrJoin(LinkOptions(capability, kNoKernel), " "));
  const std::string_view parts[] = {"program", text, HeadersDigest(), all_options,
                                    (*nvrtc)->version()};
  const std::string key = cache != nullptr ? Digest(parts) : "";

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
        (*nvrtc)->Compile(text, internal::kSourceName, AllHeaders(), flags, expressions);
    if (absl::IsInvalidArgument(made.status())) {
      return internal::CompileError(std::string(made.status().message()), options.policy);
    }
    if (!made.ok()) return made.status();
    compiled = *std::move(made);
    absl::StatusOr<std::string> linked =
        (*nvrtc)->Link(compiled.code, LinkOptions(capability, kNoKernel));
    if (absl::IsInvalidArgument(linked.status())) {
      return internal::CompileError(std::string(linked.status().message()), options.policy);
    }
    if (!linked.ok()) return linked.status();
    absl::StatusOr<std::string> found = VariableOf(*linked, kFacts);
    if (!found.ok()) return found.status();
    facts = *std::move(found);
    if (cache != nullptr) cache_status = cache->Write(key, Packed(compiled, facts));
  }
  absl::StatusOr<Policy> policy = Policy::FromBytes(facts);
  if (!policy.ok()) return policy.status();
  Program program(*std::move(policy), capability);
  program.key_ = key;
  program.code_ = std::make_shared<const std::string>(std::move(compiled.code));
  program.entries_ = std::move(compiled.names);
  for (std::size_t i = 0; i < program.entries_.size(); ++i) {
    if (program.policy_.kernel(static_cast<int>(i)).threads == 0) program.entries_[i].clear();
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
  if (key_.empty()) cache = nullptr;
  const std::string key = cache != nullptr ? Digest(parts) : "";
  if (cache != nullptr) {
    if (std::optional<std::string> kept = cache->Read(key)) return *std::move(kept);
  }
  absl::StatusOr<const Nvrtc*> nvrtc = Nvrtc::Get();
  if (!nvrtc.ok()) return nvrtc.status();
  absl::StatusOr<std::string> cubin =
      (*nvrtc)->Link(*code_, LinkOptions(compute_capability_, entry(kernel)));
  if (absl::IsInvalidArgument(cubin.status())) {
    return internal::CompileError(std::string(cubin.status().message()),
                                  absl::StrCat("of kernel ", entry(kernel)));
  }
  // Where it cannot be kept, Compile has said so.
  if (cubin.ok() && cache != nullptr) cache->Write(key, *cubin).IgnoreError();
  return cubin;
}

}  // namespace weft::rtc
