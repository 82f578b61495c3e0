#include "weft/rtc/twin.hpp"

#include <dlfcn.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "weft/rtc/host_compiler.hpp"
#include "weft/rtc/source_text.hpp"

namespace weft::rtc {
namespace {

using internal::kPolicyLine;
using internal::kSourceName;

// What to say of the compiler's output: the errors in lines of the user's, and the sentences of
// Weft's own checks; if there are none, its first lines.
std::string FirstErrors(const std::string& output) {
  constexpr std::size_t kMostLines = 8;
  std::vector<absl::string_view> errors, first;
  bool follows = false;  // the line shows what the error before it is about
  for (const absl::string_view line : absl::StrSplit(output, '\n', absl::SkipEmpty())) {
    if (first.size() < kMostLines) first.push_back(line);
    const bool is_error = absl::StrContains(line, "error: ");
    const bool ours =
        absl::StartsWith(line, absl::StrCat(kSourceName, ":")) || absl::StrContains(line, "weft: ");
    if (is_error) follows = ours;
    const bool shows = absl::StartsWith(line, " ");
    if (((is_error && ours) || (follows && shows)) && errors.size() < kMostLines) {
      errors.push_back(line);
    }
    if (!is_error && !shows) follows = false;
  }
  return absl::StrJoin(errors.empty() ? first : errors, "\n");
}

absl::Status CompileError(const std::string& output, const std::string& policy) {
  const bool no_name = absl::StrContains(output, absl::StrCat(kPolicyLine, ":1:"));
  if (no_name && !absl::StrContains(output, absl::StrCat("\n", kSourceName, ":")) &&
      !absl::StartsWith(output, absl::StrCat(kSourceName, ":"))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rtc: options.policy=", policy, " names no type of the source; name the policy struct"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("rtc: the policy ", policy, " does not compile:\n", FirstErrors(output)));
}

}  // namespace

absl::StatusOr<Twin> Twin::Compile(std::string_view source, const TwinOptions& options) {
  absl::StatusOr<std::vector<std::string>> command = FindCompiler(options.compiler);
  if (!command.ok()) return command.status();
  const absl::StatusOr<std::string> headers = FindHeaders(options.include);
  if (!headers.ok()) return headers.status();
  const TemporaryFolder folder;
  if (!folder.status().ok()) return folder.status();
  const std::string text = absl::StrCat(folder.path(), "/twin.cpp");
  const std::string object = absl::StrCat(folder.path(), "/twin.so");
  std::ofstream(text) << internal::TwinSource(source, options.policy, options.values);
  // The flags that make results exact to the bit are those of weft::headers.
  for (const char* flag :
       {"-std=c++20", "-O2", "-DNDEBUG", "-w", "-shared", "-fPIC", "-ffp-contract=off",
        "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-fno-gnu-unique",
        "-fdiagnostics-color=never", "-fno-diagnostics-show-template-tree", "-Wl,--no-undefined"}) {
    command->push_back(flag);
  }
#if defined(_GLIBCXX_USE_CXX11_ABI)
  command->push_back(absl::StrCat("-D_GLIBCXX_USE_CXX11_ABI=", _GLIBCXX_USE_CXX11_ABI));
#endif
#if defined(_GLIBCXX_DEBUG)
  command->push_back("-D_GLIBCXX_DEBUG");
#endif
  command->insert(command->end(), {"-I", *headers, text, "-o", object});
  const absl::StatusOr<CommandResult> result = RunCommand(*command);
  if (!result.ok()) return result.status();
  if (result->exit_code != 0) return CompileError(result->output, options.policy);
  return Load(object);
}

absl::StatusOr<Twin> Twin::Load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("rtc: the compiled policy cannot be loaded: ", dlerror(),
                     "; if programs may not run from there, set TMPDIR to another folder"));
  }
  std::shared_ptr<void> owner(library, [](void* l) { dlclose(l); });
  const auto* sizes = static_cast<const TwinSizes*>(dlsym(library, "weft_twin_sizes"));
  const auto* table = static_cast<const TwinTable*>(dlsym(library, "weft_twin"));
  if (sizes == nullptr || table == nullptr || !(*sizes == TwinSizes())) {
    return absl::FailedPreconditionError(
        "rtc: the headers are of another version of Weft than this program; set WEFT_INCLUDE to "
        "the "
        "folder that its own are installed to");
  }
  table->set_executor(Executor());
  return Twin(std::move(owner), table);
}

}  // namespace weft::rtc
