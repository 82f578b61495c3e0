// Matrix products by cuBLASLt.
#pragma once

#if WEFT_HAVE_CUBLASLT

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/peers/cublaslt_api.hpp"
#include "perf/support/cuda.hpp"

namespace weft::perf {

// C (m x n, row-major, dense) = A B, all in the types of one product.
struct ProductShape {
  int m = 0, n = 0, k = 0;
  bool row_major_a = true, row_major_b = false;
  cudaDataType_t element = CUDA_R_8I;
  cudaDataType_t sum = CUDA_R_32I;
};

class CublasProduct {
 public:
  // The algorithms that cuBLASLt's heuristic offers, best guess first; with `all`, then every tile
  // and number of stages of every algorithm that it can run. NotFound without the library.
  static absl::StatusOr<CublasProduct> Create(const ProductShape& shape, bool all);

  int algorithms() const { return static_cast<int>(algorithms_.size()); }
  int offered() const { return offered_; }  // how many of these the heuristic named
  // The version and the algorithm's attributes, as numbers of cublasLt.h.
  std::string Name(int algorithm) const;
  absl::Status Run(int algorithm, const void* a, const void* b, void* c, cudaStream_t stream) const;
  // The kernels that Run launches, joined by " + ", as the library calls them; empty if the driver
  // does not say.
  std::string Kernels(int algorithm, const void* a, const void* b, void* c) const;

 private:
  void AddAll(const ProductShape& shape);

  const LtApi* api_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr;
  bool int32_sums_ = false;
  std::shared_ptr<DeviceBuffer> workspace_;
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
  int offered_ = 0;
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUBLASLT
