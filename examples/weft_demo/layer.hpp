// One quantised convolution layer, and ways to compute it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/conv/problem/problem.hpp"

namespace weft_demo {

// What goes into a layer. Real numbers are (q - zero point) * scale; the source and the filter have
// the zero point 0.
struct Layer {
  weft::conv::Problem problem;      // its C and K are multiples of 16
  std::vector<std::int8_t> src;     // NCHW
  std::vector<std::int8_t> filter;  // KCRS
  std::vector<float> bias;          // K, real numbers
  float alpha = 1.0f;               // the source's scale times the filter's
  float strength = 1.0f;            // of the activation
  float output_scale = 1.0f;
  float zero_point = 0.0f;  // of the output
};

// The largest shape that runs on a CPU in a moment, ResNet-50's 3x3 of 64 channels, of `images`
// random images.
Layer RandomLayer(std::int64_t images);

struct Answer {
  std::vector<std::int8_t> dst;  // NCHW
  double milliseconds = 0.0;
  double padding =
      0.0;  // of a kernel: the share of its multiplications that only fill up its tiles
};

// Plain loops, on all cores.
Answer Loops(const Layer& layer);

// The operators of my_operator.hpp.
enum class Kernel { kAnyGpu, kHopper };
constexpr const char* Name(Kernel kernel) {
  return kernel == Kernel::kAnyGpu ? "MyConv" : "MyConvOnHopper";
}

// The GPU's kernel, on the CPU.
absl::StatusOr<Answer> RunOnCpu(const Layer& layer, Kernel kernel);

// On the GPU: the mean of many launches of one CUDA graph. FailedPrecondition if the GPU is too old
// for the kernel, or if this program was built without it.
absl::StatusOr<Answer> RunOnGpu(const Layer& layer, Kernel kernel);

}  // namespace weft_demo
