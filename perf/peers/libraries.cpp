#include "perf/peers/libraries.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/peers/peer.hpp"
#include "perf/support/status.hpp"

namespace weft::perf {
namespace {

std::vector<std::string>& Opened() {
  static std::vector<std::string> opened;
  return opened;
}

#if WEFT_HAVE_CUDNN || WEFT_HAVE_CUBLASLT

// A library that was opened by one of its names.
class Library {
 public:
  absl::Status Open(const std::vector<const char*>& names) {
    std::string why;
    for (const char* name : names) {
      name_ = name;
      library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library_ != nullptr) return absl::OkStatus();
      absl::StrAppend(&why, why.empty() ? "" : "; ", dlerror());
    }
    return absl::NotFoundError(why);
  }

  template <class Function>
  absl::Status Find(const char* name, Function* function) const {
    void* const symbol = dlsym(library_, name);
    if (symbol == nullptr) return absl::NotFoundError(absl::StrCat(name_, " has no ", name));
    *function = reinterpret_cast<Function>(symbol);
    return absl::OkStatus();
  }

  // Notes it for PeerLibraries(); `function` is one of its.
  template <class Function>
  void Note(const std::string& version, Function* function) const {
    Dl_info info = {};
    const bool found = dladdr(reinterpret_cast<const void*>(function), &info) != 0;
    Opened().push_back(absl::StrCat(version, " (", found ? info.dli_fname : name_, ")"));
  }

 private:
  void* library_ = nullptr;
  std::string name_;
};

std::string Version(std::size_t number) {
  return absl::StrCat(number / 10000, ".", number / 100 % 100, ".", number % 100);
}

// What Load gave, kept for ever.
template <class Api>
absl::StatusOr<const Api*> Once(absl::StatusOr<Api> (*load)()) {
  static const absl::StatusOr<Api>* const api = new absl::StatusOr<Api>(load());
  if (!api->ok()) return api->status();
  return &**api;
}

#endif

}  // namespace

std::vector<std::string> PeerLibraries() {
  return Opened();
}

#if WEFT_HAVE_CUDNN

absl::StatusOr<const CudnnApi*> CudnnApi::Get() {
  return Once<CudnnApi>([]() -> absl::StatusOr<CudnnApi> {
    Library library;
    WEFT_TRY(library.Open({"libcudnn.so.9"}));
    CudnnApi api;
#define WEFT_LOAD(name) WEFT_TRY(library.Find("cudnn" #name, &api.name));
    WEFT_CUDNN_FUNCTIONS(WEFT_LOAD)
#undef WEFT_LOAD
    api.version = Version(api.GetVersion());
    library.Note(absl::StrCat("cuDNN ", api.version), api.GetVersion);
    return api;
  });
}

absl::StatusOr<cudnnHandle_t> CudnnApi::NewHandle() const {
  cudnnHandle_t handle = nullptr;
  WEFT_TRY(Check(Create(&handle), "cudnnCreate"));
  return handle;
}

absl::StatusOr<cudnnHandle_t> CudnnApi::MainHandle() const {
  static const absl::StatusOr<cudnnHandle_t> handle = NewHandle();
  return handle;
}

absl::Status CudnnApi::Check(cudnnStatus_t status, const std::string& what) const {
  if (status == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  char words[256] = {};
  GetLastErrorString(words, sizeof(words));
  std::string last = words;
  std::replace(last.begin(), last.end(), '\n', ' ');
  const std::string message =
      absl::StrCat(what, ": ", GetErrorString(status), last.empty() ? "" : "; ", last);
  // From 3000 on, cuDNN 9 names reasons why something is not supported.
  const bool unsupported = status >= CUDNN_STATUS_NOT_SUPPORTED && status < 4000;
  return unsupported ? absl::UnimplementedError(message) : absl::InternalError(message);
}

#endif  // WEFT_HAVE_CUDNN

#if WEFT_HAVE_CUBLASLT

absl::StatusOr<const LtApi*> LtApi::Get() {
  return Once<LtApi>([]() -> absl::StatusOr<LtApi> {
    Library library;
    WEFT_TRY(library.Open({"libcublasLt.so.13", "libcublasLt.so.12"}));
    LtApi api;
#define WEFT_LOAD(name) WEFT_TRY(library.Find("cublasLt" #name, &api.name));
    WEFT_LT_FUNCTIONS(WEFT_LOAD)
#undef WEFT_LOAD
    WEFT_TRY(api.Check(api.Create(&api.handle), "cublasLtCreate"));
    library.Note(absl::StrCat("cuBLASLt ", Version(api.GetVersion())), api.GetVersion);
    return api;
  });
}

absl::Status LtApi::Check(cublasStatus_t status, const std::string& what) const {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const std::string message = absl::StrCat(what, ": ", GetStatusString(status));
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? absl::UnimplementedError(message)
                                               : absl::InternalError(message);
}

#endif  // WEFT_HAVE_CUBLASLT

}  // namespace weft::perf
