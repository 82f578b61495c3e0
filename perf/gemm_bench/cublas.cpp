#include "perf/gemm_bench/cublas.hpp"

#if WEFT_HAVE_CUDA

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace weft::perf {

// The functions that are used, by their names.
struct CublasApi {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtGetVersion) version;
  decltype(&cublasLtMatmulDescCreate) desc_create;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) config_get;
  decltype(&cublasLtMatmul) matmul;
};

namespace {

constexpr std::int64_t kWorkspaceBytes = std::int64_t{64} << 20;
constexpr int kMostAlgorithms = 32;

template <class Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

absl::StatusOr<std::shared_ptr<const CublasApi>> LoadApi() {
  void* library = nullptr;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) return absl::NotFoundError("cuBLASLt was not found");
  auto api = std::make_shared<CublasApi>();
  if (!Find(library, "cublasLtCreate", &api->create) ||
      !Find(library, "cublasLtGetVersion", &api->version) ||
      !Find(library, "cublasLtMatmulDescCreate", &api->desc_create) ||
      !Find(library, "cublasLtMatmulDescSetAttribute", &api->desc_set) ||
      !Find(library, "cublasLtMatrixLayoutCreate", &api->layout_create) ||
      !Find(library, "cublasLtMatmulPreferenceCreate", &api->preference_create) ||
      !Find(library, "cublasLtMatmulPreferenceSetAttribute", &api->preference_set) ||
      !Find(library, "cublasLtMatmulAlgoGetHeuristic", &api->heuristic) ||
      !Find(library, "cublasLtMatmulAlgoConfigGetAttribute", &api->config_get) ||
      !Find(library, "cublasLtMatmul", &api->matmul)) {
    return absl::NotFoundError("cuBLASLt lacks a function");
  }
  return std::shared_ptr<const CublasApi>(api);
}

absl::Status LtStatus(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cuBLASLt: ", what, " gives status ", int{status}));
}

}  // namespace

absl::StatusOr<CublasProduct> CublasProduct::Create(const ProductShape& shape) {
  absl::StatusOr<std::shared_ptr<const CublasApi>> api = LoadApi();
  if (!api.ok()) return api.status();
  CublasProduct p;
  p.api_ = *api;
  p.int32_sums_ = shape.sum == CUDA_R_32I;
  absl::Status status = absl::OkStatus();
  const auto check = [&](cublasStatus_t s, const char* what) {
    if (status.ok()) status = LtStatus(s, what);
  };
  check(p.api_->create(&p.handle_), "cublasLtCreate");
  if (!status.ok()) return status;
  // CUBLAS_COMPUTE_32F does not use TF32.
  check(p.api_->desc_create(&p.operation_, p.int32_sums_ ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F,
                            shape.sum),
        "cublasLtMatmulDescCreate");
  // cuBLASLt is column-major, so it computes the transpose: C^T (n x m) = B^T (n x k) A^T (k x m).
  // A row-major B is a column-major B^T; a column-major A needs transposing to be A^T.
  const cublasOperation_t first_op = shape.row_major_b ? CUBLAS_OP_N : CUBLAS_OP_T;
  const cublasOperation_t second_op = shape.row_major_a ? CUBLAS_OP_N : CUBLAS_OP_T;
  check(p.api_->desc_set(p.operation_, CUBLASLT_MATMUL_DESC_TRANSA, &first_op, sizeof(first_op)),
        "TRANSA");
  check(p.api_->desc_set(p.operation_, CUBLASLT_MATMUL_DESC_TRANSB, &second_op, sizeof(second_op)),
        "TRANSB");
  const auto layout = [&](cublasLtMatrixLayout_t* l, cudaDataType_t type, int rows, int cols) {
    check(p.api_->layout_create(l, type, rows, cols, rows), "cublasLtMatrixLayoutCreate");
  };
  layout(&p.first_, shape.element, shape.row_major_b ? shape.n : shape.k,
         shape.row_major_b ? shape.k : shape.n);
  layout(&p.second_, shape.element, shape.row_major_a ? shape.k : shape.m,
         shape.row_major_a ? shape.m : shape.k);
  layout(&p.result_, shape.sum, shape.n, shape.m);
  cublasLtMatmulPreference_t preference = nullptr;
  check(p.api_->preference_create(&preference), "cublasLtMatmulPreferenceCreate");
  const auto bytes = static_cast<std::size_t>(kWorkspaceBytes);
  check(p.api_->preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                               sizeof(bytes)),
        "MAX_WORKSPACE_BYTES");
  p.algorithms_.resize(kMostAlgorithms);
  int found = 0;
  if (status.ok()) {
    check(p.api_->heuristic(p.handle_, p.operation_, p.first_, p.second_, p.result_, p.result_,
                            preference, kMostAlgorithms, p.algorithms_.data(), &found),
          "cublasLtMatmulAlgoGetHeuristic");
  }
  if (!status.ok()) return status;
  p.algorithms_.resize(found);
  absl::StatusOr<DeviceBuffer> workspace = DeviceBuffer::Create(kWorkspaceBytes);
  if (!workspace.ok()) return workspace.status();
  p.workspace_ = std::make_shared<DeviceBuffer>(std::move(*workspace));
  return p;
}

std::string CublasProduct::Name(int algorithm) const {
  int id = -1, tile = -1, stages = -1;
  std::size_t written = 0;
  const cublasLtMatmulAlgo_t* algo = &algorithms_[algorithm].algo;
  api_->config_get(algo, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof(id), &written);
  api_->config_get(algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &tile, sizeof(tile), &written);
  api_->config_get(algo, CUBLASLT_ALGO_CONFIG_STAGES_ID, &stages, sizeof(stages), &written);
  return absl::StrCat("cublasLt ", api_->version(), " algorithm ", id, " tile ", tile, " stages ",
                      stages);
}

absl::Status CublasProduct::Run(int algorithm, const void* a, const void* b, void* c,
                                cudaStream_t stream) const {
  const std::int32_t one_int = 1, zero_int = 0;
  const float one = 1.0f, zero = 0.0f;
  const void* alpha = int32_sums_ ? static_cast<const void*>(&one_int) : &one;
  const void* beta = int32_sums_ ? static_cast<const void*>(&zero_int) : &zero;
  return LtStatus(
      api_->matmul(handle_, operation_, alpha, b, first_, a, second_, beta, c, result_, c, result_,
                   &algorithms_[algorithm].algo, workspace_->data(), kWorkspaceBytes, stream),
      "cublasLtMatmul");
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
