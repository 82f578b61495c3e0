#include "perf/peers/cudnn_api.hpp"

#if WEFT_HAVE_CUDNN

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "perf/peers/libraries.hpp"

namespace weft::perf {
namespace {

absl::StatusOr<CudnnApi> Load() {
  const absl::StatusOr<Library> library = Library::Open({"libcudnn.so.9"});
  if (!library.ok()) return library.status();
  CudnnApi api;
#define WEFT_LOAD(name) \
  if (absl::Status s = library->Find("cudnn" #name, &api.name); !s.ok()) return s;
  WEFT_CUDNN_FUNCTIONS(WEFT_LOAD)
#undef WEFT_LOAD
  const auto version = api.GetVersion();
  api.version = absl::StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100);
  api.path = Library::PathOf(reinterpret_cast<const void*>(api.GetVersion));
  NoteLibrary(absl::StrCat("cuDNN ", api.version, " (", api.path, ")"));
  return api;
}

}  // namespace

absl::StatusOr<const CudnnApi*> CudnnApi::Get() {
  static const absl::StatusOr<CudnnApi>* const api = new absl::StatusOr<CudnnApi>(Load());
  if (!api->ok()) return api->status();
  return &**api;
}

absl::StatusOr<cudnnHandle_t> CudnnApi::NewHandle() const {
  cudnnHandle_t handle = nullptr;
  if (absl::Status s = Check(Create(&handle), "cudnnCreate"); !s.ok()) return s;
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

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDNN
