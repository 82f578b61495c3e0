// Times on the GPU: ours, and cuDNN's where it is installed. For builds with kernels for a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/weft_demo/layer.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/status.hpp"

namespace weft_demo {

// Milliseconds of what `launch` enqueues: of the fastest of a few runs of one graph that holds it many times,
// so that what the host does for a launch is not timed.
absl::StatusOr<double> TimeOnGpu(const std::function<absl::Status(cudaStream_t)>& launch);

struct CudnnTime {
  std::string version;
  double milliseconds = 0.0;  // of the fastest plan
  int plans = 0;              // that ran
};

// The layer's convolution, scale, bias and ReLU as one graph of cuDNN's for int8 with channels last, which is
// less than the layer does: an activation of one's own is not among cuDNN's. NotFound without libcudnn.so.9,
// or without its header when this program was built.
absl::StatusOr<CudnnTime> TimeCudnn(const Layer& layer);

}  // namespace weft_demo
