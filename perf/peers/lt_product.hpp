// Matrix products by cuBLASLt: the convolution peer, gemm_bench and the tensor cores' ceiling run
// this.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/peers/libraries.hpp"
#include "perf/support/cuda.hpp"

namespace weft::perf {

// D = op(A) op(B) in cuBLASLt's column-major words: D is rows x columns and dense, and so is each
// operand as it is stored.
struct LtShape {
  std::int64_t rows = 0, columns = 0, depth = 0;
  bool transpose_a = false, transpose_b = false;
  cudaDataType_t operand = CUDA_R_8I;
  cudaDataType_t result = CUDA_R_8I;
  const float* row_alpha = nullptr;  // a factor of each row of D, on the GPU
  const float* bias = nullptr;       // of each row of D, on the GPU
  bool relu = false;
  bool half_sums = false;  // of halves: sums are halves too
  bool tf32 = false;       // of floats: they are read as TF32
  bool fast_sums = false;  // of 8-bit floats: sums stay in the tensor cores, which have fewer bits
  int batch = 1;           // products, whose matrices lie one behind the other

  bool int_sums() const { return operand == CUDA_R_8I; }
  cublasComputeType_t compute() const {
    return int_sums()                                       ? CUBLAS_COMPUTE_32I
           : operand == CUDA_R_64F || operand == CUDA_C_64F ? CUBLAS_COMPUTE_64F
           : half_sums                                      ? CUBLAS_COMPUTE_16F
           : tf32                                           ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                            : CUBLAS_COMPUTE_32F;
  }
  // What scales the sums: half, int32, double or complex for sums of those, else float.
  cudaDataType_t scale() const {
    const bool own = result == CUDA_R_32I || result == CUDA_R_64F || result == CUDA_C_32F ||
                     result == CUDA_C_64F;
    return own || half_sums ? result : CUDA_R_32F;
  }
};

class LtProduct {
 public:
  // With at most `most` algorithms that cuBLASLt's heuristic offers, best guess first. NotFound
  // without the library.
  static absl::StatusOr<LtProduct> Create(const LtShape& shape, int most);
  LtProduct(LtProduct&&) = default;

  int algorithms() const { return static_cast<int>(algorithms_.size()); }
  // The version and the algorithm's place.
  std::string Name(int algorithm) const;

  // D = alpha op(A) op(B) + beta C; alpha is not used with row_alpha.
  absl::Status Run(int algorithm, const void* a, const void* b, void* d, cudaStream_t stream,
                   float alpha = 1.0f, float beta = 0.0f, const void* c = nullptr) const;

 private:
  explicit LtProduct(const LtShape& shape) : shape_(shape) {}

  // cuBLASLt's descriptions, destroyed with this object.
  struct Described {
    const LtApi* api = nullptr;
    cublasLtMatmulDesc_t operation = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
    ~Described();
  };

  LtShape shape_;
  const LtApi* api_ = nullptr;
  std::unique_ptr<Described> is_ = std::make_unique<Described>();
  DeviceBuffer workspace_;
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
};

// int8 through the tensor cores, two operations a multiply-accumulate: the fastest algorithm on
// s8 x s8 -> s8, 8192 x 8192 x 8192, random data; under 1 s. `source` says which. NotFound without
// cuBLASLt.
absl::StatusOr<double> MeasureTensorTops(cudaStream_t stream, std::string* source);

}  // namespace weft::perf
