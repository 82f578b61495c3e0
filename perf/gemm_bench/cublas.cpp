#include "perf/gemm_bench/cublas.hpp"

#if WEFT_HAVE_CUBLASLT

#include <cuda.h>

#include "absl/strings/str_cat.h"

namespace weft::perf {
namespace {

constexpr std::int64_t kWorkspaceBytes = std::int64_t{64} << 20;
constexpr int kMostAlgorithms = 32;

// A function of the driver; null if it has none of that name.
template <class Function>
Function* DriverFunction(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, 12030, cudaEnableDefault, &result);
  if (error != cudaSuccess || result != cudaDriverEntryPointSuccess) function = nullptr;
  return reinterpret_cast<Function*>(function);
}

}  // namespace

absl::StatusOr<CublasProduct> CublasProduct::Create(const ProductShape& shape, bool all) {
  const absl::StatusOr<const LtApi*> api = Lt();
  if (!api.ok()) return api.status();
  CublasProduct p;
  p.api_ = *api;
  p.int32_sums_ = shape.sum == CUDA_R_32I;
  absl::Status status = absl::OkStatus();
  const auto check = [&](cublasStatus_t s, const char* what) {
    if (status.ok()) status = p.api_->Check(s, what);
  };
  // CUBLAS_COMPUTE_32F does not use TF32.
  check(p.api_->MatmulDescCreate(
            &p.operation_, p.int32_sums_ ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F, shape.sum),
        "cublasLtMatmulDescCreate");
  // cuBLASLt is column-major, so it computes the transpose: C^T (n x m) = B^T (n x k) A^T (k x m).
  // A row-major B is a column-major B^T; a column-major A needs transposing to be A^T.
  const cublasOperation_t first_op = shape.row_major_b ? CUBLAS_OP_N : CUBLAS_OP_T;
  const cublasOperation_t second_op = shape.row_major_a ? CUBLAS_OP_N : CUBLAS_OP_T;
  check(p.api_->MatmulDescSetAttribute(p.operation_, CUBLASLT_MATMUL_DESC_TRANSA, &first_op,
                                       sizeof(first_op)),
        "TRANSA");
  check(p.api_->MatmulDescSetAttribute(p.operation_, CUBLASLT_MATMUL_DESC_TRANSB, &second_op,
                                       sizeof(second_op)),
        "TRANSB");
  const auto layout = [&](cublasLtMatrixLayout_t* l, cudaDataType_t type, int rows, int cols) {
    check(p.api_->MatrixLayoutCreate(l, type, rows, cols, rows), "cublasLtMatrixLayoutCreate");
  };
  layout(&p.first_, shape.element, shape.row_major_b ? shape.n : shape.k,
         shape.row_major_b ? shape.k : shape.n);
  layout(&p.second_, shape.element, shape.row_major_a ? shape.k : shape.m,
         shape.row_major_a ? shape.m : shape.k);
  layout(&p.result_, shape.sum, shape.n, shape.m);
  cublasLtMatmulPreference_t preference = nullptr;
  check(p.api_->MatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  const auto bytes = static_cast<std::size_t>(kWorkspaceBytes);
  check(p.api_->MatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &bytes, sizeof(bytes)),
        "MAX_WORKSPACE_BYTES");
  std::vector<cublasLtMatmulHeuristicResult_t> offers(kMostAlgorithms);
  if (status.ok()) {
    check(p.api_->MatmulAlgoGetHeuristic(p.api_->handle, p.operation_, p.first_, p.second_,
                                         p.result_, p.result_, preference, kMostAlgorithms,
                                         offers.data(), &p.offered_),
          "cublasLtMatmulAlgoGetHeuristic");
  }
  if (preference != nullptr) p.api_->MatmulPreferenceDestroy(preference);
  if (!status.ok()) return status;
  for (int i = 0; i < p.offered_; ++i) p.algorithms_.push_back(offers[i].algo);
  if (all) p.AddAll(shape);
  absl::StatusOr<DeviceBuffer> workspace = DeviceBuffer::Create(kWorkspaceBytes);
  if (!workspace.ok()) return workspace.status();
  p.workspace_ = std::make_shared<DeviceBuffer>(std::move(*workspace));
  return p;
}

void CublasProduct::AddAll(const ProductShape& shape) {
  const cublasComputeType_t compute = int32_sums_ ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F;
  std::vector<int> ids(256);
  int found = 0;
  if (api_->MatmulAlgoGetIds(api_->handle, compute, shape.sum, shape.element, shape.element,
                             shape.sum, shape.sum, static_cast<int>(ids.size()), ids.data(),
                             &found) != CUBLAS_STATUS_SUCCESS) {
    return;
  }
  ids.resize(found);
  for (const int id : ids) {
    cublasLtMatmulAlgo_t algo;
    if (api_->MatmulAlgoInit(api_->handle, compute, shape.sum, shape.element, shape.element,
                             shape.sum, shape.sum, id, &algo) != CUBLAS_STATUS_SUCCESS) {
      continue;
    }
    const auto values = [&](cublasLtMatmulAlgoCapAttributes_t what) {
      std::vector<std::uint32_t> list(512);
      std::size_t bytes = 0;
      (void)api_->MatmulAlgoCapGetAttribute(&algo, what, list.data(), list.size() * sizeof(list[0]),
                                            &bytes);
      list.resize(bytes / sizeof(list[0]));
      if (list.empty()) list.push_back(0);  // "undefined", which the algorithm then has to take
      return list;
    };
    const std::vector<std::uint32_t> tiles = values(CUBLASLT_ALGO_CAP_TILE_IDS);
    const std::vector<std::uint32_t> stages = values(CUBLASLT_ALGO_CAP_STAGES_IDS);
    for (const std::uint32_t tile : tiles) {
      for (const std::uint32_t stage : stages) {
        cublasLtMatmulHeuristicResult_t result;
        if (api_->MatmulAlgoConfigSetAttribute(&algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &tile,
                                               sizeof(tile)) == CUBLAS_STATUS_SUCCESS &&
            api_->MatmulAlgoConfigSetAttribute(&algo, CUBLASLT_ALGO_CONFIG_STAGES_ID, &stage,
                                               sizeof(stage)) == CUBLAS_STATUS_SUCCESS &&
            api_->MatmulAlgoCheck(api_->handle, operation_, first_, second_, result_, result_,
                                  &algo, &result) == CUBLAS_STATUS_SUCCESS &&
            static_cast<std::int64_t>(result.workspaceSize) <= kWorkspaceBytes) {
          algorithms_.push_back(algo);
        }
      }
    }
  }
}

std::string CublasProduct::Name(int algorithm) const {
  std::string name = absl::StrCat("cublasLt ", api_->GetVersion());
  const auto add = [&](const char* what, cublasLtMatmulAlgoConfigAttributes_t attribute,
                       auto value) {
    std::size_t written = 0;
    if (api_->MatmulAlgoConfigGetAttribute(&algorithms_[algorithm], attribute, &value,
                                           sizeof(value), &written) == CUBLAS_STATUS_SUCCESS) {
      absl::StrAppend(&name, " ", what, " ", value);
    }
  };
  add("algorithm", CUBLASLT_ALGO_CONFIG_ID, std::int32_t{});
  add("tile", CUBLASLT_ALGO_CONFIG_TILE_ID, std::uint32_t{});
  add("stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, std::uint32_t{});
  add("split", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, std::int32_t{});
  add("swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, std::uint32_t{});
  add("inner", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, std::uint16_t{});
  add("cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, std::uint16_t{});
  return name;
}

absl::Status CublasProduct::Run(int algorithm, const void* a, const void* b, void* c,
                                cudaStream_t stream) const {
  const std::int32_t one_int = 1, zero_int = 0;
  const float one = 1.0f, zero = 0.0f;
  const void* alpha = int32_sums_ ? static_cast<const void*>(&one_int) : &one;
  const void* beta = int32_sums_ ? static_cast<const void*>(&zero_int) : &zero;
  return api_->Check(
      api_->Matmul(api_->handle, operation_, alpha, b, first_, a, second_, beta, c, result_, c,
                   result_, &algorithms_[algorithm], workspace_->data(), kWorkspaceBytes, stream),
      "cublasLtMatmul");
}

std::string CublasProduct::Kernels(int algorithm, const void* a, const void* b, void* c) const {
  static auto* const params =
      DriverFunction<CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*)>("cuGraphKernelNodeGetParams");
  static auto* const function_name =
      DriverFunction<CUresult(const char**, CUfunction)>("cuFuncGetName");
  static auto* const kernel_name =
      DriverFunction<CUresult(const char**, CUkernel)>("cuKernelGetName");
  if (params == nullptr || function_name == nullptr || kernel_name == nullptr) return "";
  CudaStream stream;
  if (!stream.Init().ok() ||
      cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed) != cudaSuccess) {
    return "";
  }
  const bool ran = Run(algorithm, a, b, c, stream.get()).ok();
  cudaGraph_t graph = nullptr;
  std::string names;
  std::size_t count = 0;
  if (cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess && ran &&
      cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess) {
    std::vector<cudaGraphNode_t> nodes(count);
    (void)cudaGraphGetNodes(graph, nodes.data(), &count);
    for (const cudaGraphNode_t node : nodes) {
      CUDA_KERNEL_NODE_PARAMS p = {};
      const char* name = nullptr;
      if (params(node, &p) != CUDA_SUCCESS) continue;  // not a kernel
      if ((p.func == nullptr || function_name(&name, p.func) != CUDA_SUCCESS) &&
          (p.kern == nullptr || kernel_name(&name, p.kern) != CUDA_SUCCESS)) {
        continue;
      }
      absl::StrAppend(&names, names.empty() ? "" : " + ", name);
    }
  }
  if (graph != nullptr) cudaGraphDestroy(graph);
  (void)cudaGetLastError();
  return names;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUBLASLT
