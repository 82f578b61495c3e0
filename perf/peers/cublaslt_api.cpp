#include "perf/peers/cublaslt_api.hpp"

#if WEFT_HAVE_CUBLASLT

#include "absl/strings/str_cat.h"
#include "perf/peers/libraries.hpp"

namespace weft::perf {
namespace {

absl::StatusOr<LtApi> Load() {
  const absl::StatusOr<Library> library = Library::Open({"libcublasLt.so.13", "libcublasLt.so.12"});
  if (!library.ok()) return library.status();
  LtApi api;
#define WEFT_LOAD(name) \
  if (absl::Status s = library->Find("cublasLt" #name, &api.name); !s.ok()) return s;
  WEFT_LT_FUNCTIONS(WEFT_LOAD)
#undef WEFT_LOAD
  if (absl::Status s = api.Check(api.Create(&api.handle), "cublasLtCreate"); !s.ok()) return s;
  const auto v = api.GetVersion();
  NoteLibrary(absl::StrCat("cuBLASLt ", v / 10000, ".", v / 100 % 100, ".", v % 100, " (",
                           Library::PathOf(reinterpret_cast<const void*>(api.GetVersion)), ")"));
  return api;
}

}  // namespace

absl::Status LtApi::Check(cublasStatus_t status, const std::string& what) const {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const std::string message = absl::StrCat(what, ": ", GetStatusString(status));
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? absl::UnimplementedError(message)
                                               : absl::InternalError(message);
}

absl::StatusOr<const LtApi*> Lt() {
  static const absl::StatusOr<LtApi>* const api = new absl::StatusOr<LtApi>(Load());
  if (!api->ok()) return api->status();
  return &**api;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUBLASLT
