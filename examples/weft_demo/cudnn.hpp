// The same layers through cuDNN, where it is installed: looked for when the program runs, never
// needed to build it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "examples/weft_demo/kernels.hpp"

namespace weft_demo {

struct CudnnAnswer {
  double milliseconds = 0.0;     // of one launch, as Measurement's
  std::vector<std::int8_t> dst;  // planar
};

// So many plans are tried, which is quick and does not crash; weft_perf tries all, in other formats
// too.
inline constexpr int kCudnnPlans = 3;

// The fastest of the first kCudnnPlans plans that cuDNN's heuristics name for NHWC int8
// convolution, scale per channel, bias, ReLU or hard swish, int8. NotFound if there is no GPU or no
// cuDNN; Unimplemented if cuDNN has no plan.
absl::StatusOr<CudnnAnswer> RunCudnn(Operator op, const LayerData& data);

// Outputs of cuDNN that are not ours, and by how much.
struct CudnnDifferences {
  std::int64_t count = 0;
  int largest = 0;
};
CudnnDifferences Compare(const std::vector<std::int8_t>& ours,
                         const std::vector<std::int8_t>& cudnns);

}  // namespace weft_demo
