#include "weft/rtc/gpu/nvrtc.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::rtc {
namespace {

using Program = void*;
using Linking = void*;
constexpr int kLinkLto = 3;  // NVJITLINK_INPUT_LTOIR

// The function of that name in a loaded library, which has it.
template <class Function>
Function* Find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::string FolderOf(void* library, const char* function) {
  Dl_info info = {};
  if (dladdr(dlsym(library, function), &info) == 0 || info.dli_fname == nullptr) return "";
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

std::string FileOf(void* library, const char* function) {
  Dl_info info = {};
  if (dladdr(dlsym(library, function), &info) == 0 || info.dli_fname == nullptr) return "";
  return info.dli_fname;
}

// Loads a library of CUDA's, such as libnvrtc, of the first of these major versions that is found: in `folders`, else where
// the class says. One that the program has loaded already is taken before all that it has not.
void* Open(const std::string& name, const std::vector<int>& versions,
           const std::vector<std::string>& folders, std::vector<std::string>* tried) {
  const char* home = std::getenv("CUDA_HOME");
  const auto file_of = [&](int version) { return absl::StrCat(name, ".so.", version); };
  for (const int version : versions) {
    for (const std::string& folder : folders) {
      const std::string path = absl::StrCat(folder, "/", file_of(version));
      if (void* library = dlopen(path.c_str(), RTLD_NOW)) return library;
    }
  }
  for (const int version : versions) {
    if (void* library = dlopen(file_of(version).c_str(), RTLD_NOW | RTLD_NOLOAD)) return library;
  }
  for (const int version : versions) {
    const std::string file = file_of(version);
    std::vector<std::string> paths = {file};
    if (home != nullptr) paths.push_back(absl::StrCat(home, "/lib64/", file));
    paths.push_back(absl::StrCat("/usr/local/cuda/lib64/", file));
    paths.push_back(absl::StrCat("/usr/local/cuda-", version, "/lib64/", file));
    for (const std::string& path : paths) {
      if (void* library = dlopen(path.c_str(), RTLD_NOW)) return library;
      tried->push_back(path);
    }
  }
  return nullptr;
}

std::string NvrtcLog(void* nvrtc, Program program) {
  std::size_t size = 0;
  Find<int(Program, std::size_t*)>(nvrtc, "nvrtcGetProgramLogSize")(program, &size);
  std::string log(size, '\0');
  if (size > 0) Find<int(Program, char*)>(nvrtc, "nvrtcGetProgramLog")(program, log.data());
  return log.c_str();  // up to the first 0
}

std::string LinkLog(void* linker, Linking linking) {
  std::size_t size = 0;
  Find<int(Linking, std::size_t*)>(linker, "nvJitLinkGetErrorLogSize")(linking, &size);
  std::string log(size, '\0');
  if (size > 0) Find<int(Linking, char*)>(linker, "nvJitLinkGetErrorLog")(linking, log.data());
  return log.c_str();
}

std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace

absl::StatusOr<const Nvrtc*> Nvrtc::Get() {
  static const absl::StatusOr<Nvrtc> found = Load();
  if (!found.ok()) return found.status();
  return &*found;
}

absl::StatusOr<Nvrtc> Nvrtc::Load() {
  std::vector<std::string> tried;
  const char* named = std::getenv("WEFT_NVRTC");
  void* nvrtc = nullptr;
  if (named != nullptr && *named != 0) {
    nvrtc = dlopen(named, RTLD_NOW);
    if (nvrtc == nullptr) {
      return absl::NotFoundError(absl::StrCat("rtc: WEFT_NVRTC=", named, " cannot be loaded: ",
                                              dlerror(), "; name the file libnvrtc.so.13"));
    }
  } else {
    nvrtc = Open("libnvrtc", {13, 12}, {}, &tried);
  }
  if (nvrtc == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("rtc: there is no NVRTC, which compiles for a GPU; install it (pip install "
                     "nvidia-cuda-nvrtc, or a CUDA "
                     "toolkit), or let WEFT_NVRTC name libnvrtc.so.13; tried ",
                     absl::StrJoin(tried, ", ")));
  }
  if (dlsym(nvrtc, "nvrtcGetLTOIR") == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("rtc: NVRTC=", FileOf(nvrtc, "nvrtcVersion"), " is older than 12.0"));
  }
  const std::string folder = FolderOf(nvrtc, "nvrtcVersion");
  int major = 0, minor = 0;
  Find<int(int*, int*)>(nvrtc, "nvrtcVersion")(&major, &minor);
  // NVRTC opens this one by its name alone, which the loader does not find in a toolkit's folder unless it is loaded already.
  dlopen(absl::StrCat(folder, "/libnvrtc-builtins.so.", major, ".", minor).c_str(), RTLD_NOW);
  tried.clear();
  void* linker =
      Open("libnvJitLink", {major},  // which reads what NVRTC of that version writes
           {folder, absl::StrCat(folder, "/../../nvjitlink/lib")},  // beside it; Python's packages
           &tried);
  if (linker == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("rtc: there is no nvJitLink for NVRTC=", FileOf(nvrtc, "nvrtcVersion"),
                     "; install it (pip install nvidia-nvjitlink, or a CUDA toolkit); tried ",
                     absl::StrJoin(tried, ", ")));
  }
  // Before 12.3 all functions of nvJitLink had its version in their names, and there was no nvJitLinkVersion.
  if (dlsym(linker, "nvJitLinkVersion") == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("rtc: nvJitLink=", FileOf(linker, "__nvJitLinkCreate_12_0"),
                     " is older than 12.3; install a newer CUDA toolkit, or let WEFT_NVRTC name "
                     "libnvrtc of one"));
  }
  Nvrtc loaded(nvrtc, linker);
  unsigned link_major = 0, link_minor = 0;
  Find<int(unsigned*, unsigned*)>(linker, "nvJitLinkVersion")(&link_major, &link_minor);
  loaded.version_ = absl::StrCat("NVRTC ", major, ".", minor, " of ", FileOf(nvrtc, "nvrtcVersion"),
                                 ", nvJitLink ", link_major, ".", link_minor, " of ",
                                 FileOf(linker, "nvJitLinkVersion"));
  return loaded;
}

absl::Status Nvrtc::CheckArchitecture(int compute_capability) const {
  int count = 0;
  Find<int(int*)>(nvrtc_, "nvrtcGetNumSupportedArchs")(&count);
  std::vector<int> known(static_cast<std::size_t>(count));
  Find<int(int*)>(nvrtc_, "nvrtcGetSupportedArchs")(known.data());
  if (std::find(known.begin(), known.end(), compute_capability) != known.end()) {
    return absl::OkStatus();
  }
  const bool is_new = known.empty() || compute_capability > known.back();
  return absl::FailedPreconditionError(absl::StrCat(
      "rtc: compute_capability=", compute_capability, " is not one of ", absl::StrJoin(known, ", "),
      ", for which ", version_, " compiles",
      is_new ? "; let WEFT_NVRTC name a newer one" : "; GPUs that old have no newer code"));
}

absl::StatusOr<LinkInput> Nvrtc::Compile(
    const std::string& source, const char* file,
    const std::vector<std::pair<const char*, const char*>>& headers,
    const std::vector<std::string>& options, const std::vector<std::string>& expressions) const {
  std::vector<const char*> paths, texts;
  for (const auto& [path, text] : headers) paths.push_back(path), texts.push_back(text);
  Program program = nullptr;
  const int created =
      Find<int(Program*, const char*, const char*, int, const char* const*, const char* const*)>(
          nvrtc_, "nvrtcCreateProgram")(&program, source.c_str(), file,
                                        static_cast<int>(headers.size()), texts.data(),
                                        paths.data());
  if (created != 0) return absl::InternalError(absl::StrCat("rtc: NVRTC failed (", created, ")"));
  for (const std::string& e : expressions) {
    Find<int(Program, const char*)>(nvrtc_, "nvrtcAddNameExpression")(program, e.c_str());
  }
  std::vector<const char*> pointers = Pointers(options);
  const int compiled = Find<int(Program, int, const char* const*)>(nvrtc_, "nvrtcCompileProgram")(
      program, static_cast<int>(pointers.size()), pointers.data());
  absl::StatusOr<LinkInput> result = LinkInput();
  if (compiled != 0) {
    result = absl::InvalidArgumentError(NvrtcLog(nvrtc_, program));
  } else {
    std::size_t size = 0;
    Find<int(Program, std::size_t*)>(nvrtc_, "nvrtcGetLTOIRSize")(program, &size);
    result->code.resize(size);
    Find<int(Program, char*)>(nvrtc_, "nvrtcGetLTOIR")(program, result->code.data());
    for (const std::string& e : expressions) {
      const char* name = "";
      Find<int(Program, const char*, const char**)>(nvrtc_, "nvrtcGetLoweredName")(
          program, e.c_str(), &name);
      result->names.emplace_back(name);
    }
  }
  Find<int(Program*)>(nvrtc_, "nvrtcDestroyProgram")(&program);
  return result;
}

absl::StatusOr<std::string> Nvrtc::Link(std::string_view code,
                                        const std::vector<std::string>& options) const {
  Linking linking = nullptr;
  std::vector<const char*> pointers = Pointers(options);
  int failed = Find<int(Linking*, unsigned, const char**)>(linker_, "nvJitLinkCreate")(
      &linking, static_cast<unsigned>(pointers.size()), pointers.data());
  if (failed != 0) return absl::InternalError(absl::StrCat("rtc: nvJitLink failed (", failed, ")"));
  failed = Find<int(Linking, int, const void*, std::size_t, const char*)>(
      linker_, "nvJitLinkAddData")(linking, kLinkLto, code.data(), code.size(), "policy");
  if (failed == 0) failed = Find<int(Linking)>(linker_, "nvJitLinkComplete")(linking);
  absl::StatusOr<std::string> result = std::string();
  if (failed != 0) {
    result = absl::InvalidArgumentError(LinkLog(linker_, linking));
  } else {
    std::size_t size = 0;
    Find<int(Linking, std::size_t*)>(linker_, "nvJitLinkGetLinkedCubinSize")(linking, &size);
    result->resize(size);
    Find<int(Linking, char*)>(linker_, "nvJitLinkGetLinkedCubin")(linking, result->data());
  }
  Find<int(Linking*)>(linker_, "nvJitLinkDestroy")(&linking);
  return result;
}

}  // namespace weft::rtc
