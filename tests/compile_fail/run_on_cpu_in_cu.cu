// EXPECT: weft: call RunOnCpu in a .cpp file: what nvcc compiles has kernels for the GPU only
#include "weft/conv/convolution.hpp"
#include "weft/conv/ready_made.hpp"

using Op = weft::conv::Convolution<weft::conv::S8Conv32<>>;

bool Run(const Op& op, const std::int8_t* x, const Op::Filter& w, const float* b, std::int8_t* y) {
  return op.RunOnCpu({.src = x, .filter = w, .bias = b, .dst = y}).ok();
}
