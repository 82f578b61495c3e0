// Matrix products by cuBLASLt, looked for when the program runs.
#pragma once

#if WEFT_HAVE_CUDA

#include <cublasLt.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/support/cuda.hpp"

namespace weft::perf {

// C (m x n, row-major, dense) = A B, all in the types of one product.
struct ProductShape {
  int m = 0, n = 0, k = 0;
  bool row_major_a = true, row_major_b = false;
  cudaDataType_t element = CUDA_R_8I;
  cudaDataType_t sum = CUDA_R_32I;
};

struct CublasApi;

class CublasProduct {
 public:
  // NotFound without the library; Internal with cuBLASLt's status.
  static absl::StatusOr<CublasProduct> Create(const ProductShape& shape);

  // The algorithms that its heuristic offers, best guess first.
  int algorithms() const { return static_cast<int>(algorithms_.size()); }
  std::string Name(int algorithm) const;
  absl::Status Run(int algorithm, const void* a, const void* b, void* c, cudaStream_t stream) const;

 private:
  std::shared_ptr<const CublasApi> api_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr;
  bool int32_sums_ = false;
  std::shared_ptr<DeviceBuffer> workspace_;
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms_;
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
