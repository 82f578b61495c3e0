// What the tensor cores of the GPU at hand reach. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <string>

#include "absl/status/statusor.h"
#include "weft/gemm/arch/backend.hpp"

namespace weft::perf {

struct TensorCeiling {
  double tops = 0.0;   // two operations a multiply-accumulate
  std::string source;  // what reached it
};

// The fastest algorithm of cuBLASLt on s8 x s8 -> s8, 8192 x 8192 x 8192, random data; under 1 s.
// NotFound without cuBLASLt.
absl::StatusOr<TensorCeiling> MeasureTensorCeiling(Stream stream);

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
