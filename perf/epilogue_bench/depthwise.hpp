// Zero points of depthwise convolutions. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include "absl/status/status.h"
#include "perf/peers/bench.hpp"
#include "weft/conv/problem/problem.hpp"

namespace weft::perf {

// A row for the source's zero point and one for both, over the quicker of two tiles, beside the quicker
// one without. C in multiples of 32.
absl::Status MeasureDepthwiseZeros(Bench& bench, const conv::Problem& problem);

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
