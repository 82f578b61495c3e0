#include "weft/rtc/cpu/twin.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "weft/rtc/cache/digest.hpp"
#include "weft/rtc/cpu/host_compiler.hpp"
#include "weft/rtc/text/headers.hpp"
#include "weft/rtc/text/messages.hpp"
#include "weft/rtc/text/source_text.hpp"

namespace weft::rtc {
namespace {

namespace fs = std::filesystem;

std::string TwinText(std::string_view source, const TwinOptions& options) {
  return absl::StrCat("#include \"weft/rtc/cpu/twin_table.hpp\"\n",
                      internal::PolicyText(source, options.policy, options.values, options.kind),
                      R"(
namespace {
const weft::rtc::ExecutorTable* weft_executor;
// constinit: a functor whose default is known only when the program runs has none on a GPU.
constinit const WeftData weft_data = WEFT_RECORD;
}
#define WEFT_EXECUTOR(result, function, field, parameters, arguments) \
  result weft::arch::function parameters { return weft_executor->field arguments; }
#include "weft/rtc/cpu/executor.def"
extern "C" {
[[gnu::visibility("default")]] extern const weft::rtc::TwinTable weft_twin;
}
constinit const weft::rtc::TwinTable weft_twin = weft::rtc::TwinOf<WeftPolicy, WEFT_PARTS>(
    &weft_data, [](const weft::rtc::ExecutorTable& executor) { weft_executor = &executor; });
)");
}

// The flags that make results exact to the bit are those of weft::headers.
std::vector<std::string> Flags() {
  std::vector<std::string> flags = {"-std=c++20",
                                    "-O2",
                                    "-DNDEBUG",
                                    "-w",
                                    "-shared",
                                    "-fPIC",
                                    "-ffp-contract=off",
                                    "-fvisibility=hidden",
                                    "-fvisibility-inlines-hidden",
                                    "-fno-gnu-unique",
                                    "-fdiagnostics-color=never",
                                    "-fno-diagnostics-show-template-tree",
                                    "-Wl,--no-undefined"};
#if defined(_GLIBCXX_USE_CXX11_ABI)
  flags.push_back(absl::StrCat("-D_GLIBCXX_USE_CXX11_ABI=", _GLIBCXX_USE_CXX11_ABI));
#endif
#if defined(_GLIBCXX_DEBUG)
  flags.push_back("-D_GLIBCXX_DEBUG");
#endif
  return flags;
}

// Writes Weft's headers to a folder. False if there is no room for them.
bool WriteHeaders(const std::string& folder) {
  std::set<fs::path> made;
  std::error_code error;
  for (const Header& header : Headers()) {
    const fs::path path = fs::path(folder) / header.path;
    if (made.insert(path.parent_path()).second) fs::create_directories(path.parent_path(), error);
    if (!(std::ofstream(path, std::ios::binary) << header.text).flush()) return false;
  }
  return true;
}

absl::Status NoRoom(const std::string& folder) {
  return absl::FailedPreconditionError(
      absl::StrCat("rtc: files cannot be written to ", folder,
                   "; set TMPDIR to a folder with room for some megabytes"));
}

// Compiles the text to a shared object in the folder.
absl::Status CompileTo(const std::string& object, const std::string& folder,
                       const std::string& text, const TwinOptions& options,
                       std::vector<std::string> command) {
  const std::string file = absl::StrCat(folder, "/twin.cpp");
  if (!(std::ofstream(file) << text).flush() || !WriteHeaders(folder)) return NoRoom(folder);
  for (std::string& flag : Flags()) command.push_back(std::move(flag));
  command.insert(command.end(), {"-I", folder});
  if (!options.include.empty()) command.insert(command.end(), {"-I", options.include});
  command.insert(command.end(), {file, "-o", object});
  const absl::StatusOr<CommandResult> result = RunCommand(command);
  if (!result.ok()) return result.status();
  return result->exit_code == 0 ? absl::OkStatus()
                                : internal::CompileError(result->output, options.policy);
}

}  // namespace

absl::StatusOr<Twin> Twin::Compile(std::string_view source, const TwinOptions& options,
                                   const Kept& kept) {
  const std::string text = TwinText(source, options);
  const std::string flags = absl::StrJoin(Flags(), " ");
  const std::string_view parts[] = {"twin", text, HeadersDigest(), flags};
  const std::string key = Digest(parts);

  const TemporaryFolder folder;
  if (!folder.status().ok()) return folder.status();
  const std::string object = absl::StrCat(folder.path(), "/twin.so");
  // The system's libraries may be others than those of the time when it was made: it is then made anew.
  const auto load = [&](const std::string& bytes) -> absl::StatusOr<Twin> {
    if (!(std::ofstream(object, std::ios::binary) << bytes).flush()) return NoRoom(folder.path());
    absl::StatusOr<Twin> twin = Load(object);
    if (twin.ok()) twin->from_cache_ = true;
    return twin;
  };
  absl::Status not_loaded;
  if (kept.archive != nullptr) {
    if (const std::optional<std::string> found = kept.archive->Find(key)) {
      absl::StatusOr<Twin> twin = load(*found);
      if (twin.ok()) return twin;
      not_loaded = twin.status();
    }
  }
  absl::StatusOr<std::vector<std::string>> command = FindCompiler(options.compiler);
  if (!command.ok()) return not_loaded.ok() ? command.status() : not_loaded;
  const std::string compiler = IdentityOf(*command);
  const std::string_view by_compiler[] = {key, compiler};
  const std::string cache_key = kept.cache != nullptr ? Digest(by_compiler) : "";
  if (kept.cache != nullptr) {
    if (const std::optional<std::string> found = kept.cache->Read(cache_key)) {
      absl::StatusOr<Twin> twin = load(*found);
      if (twin.ok()) {
        if (kept.archive != nullptr) kept.archive->Add(key, *found);
        return twin;
      }
    }
  }
  if (absl::Status s = CompileTo(object, folder.path(), text, options, *std::move(command));
      !s.ok()) {
    return s;
  }
  absl::StatusOr<Twin> twin = Load(object);
  if (twin.ok() && (kept.cache != nullptr || kept.archive != nullptr)) {
    std::ifstream file(object, std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (kept.cache != nullptr) twin->cache_status_ = kept.cache->Write(cache_key, bytes);
    if (kept.archive != nullptr) kept.archive->Add(key, std::move(bytes));
  }
  return twin;
}

absl::StatusOr<Twin> Twin::Load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("rtc: the compiled policy cannot be loaded: ", dlerror(),
                     "; if programs may not run from there, set TMPDIR to another folder"));
  }
  std::shared_ptr<void> owner(library, [](void* l) { dlclose(l); });
  const auto* table = static_cast<const TwinTable*>(dlsym(library, "weft_twin"));
  if (table == nullptr) return absl::InternalError("rtc: the compiled policy lacks its table");
  absl::StatusOr<Policy> policy = Policy::FromBytes(std::string_view(
      static_cast<const char*>(table->data), static_cast<std::size_t>(table->data_bytes)));
  if (!policy.ok()) return policy.status();
  table->set_executor(Executor());
  return Twin(std::move(owner), table, *std::move(policy));
}

}  // namespace weft::rtc
