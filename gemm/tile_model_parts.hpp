// What the parts of the tile model (gemm/tile_model.cpp) share.
#pragma once

#include <cmath>
#include <initializer_list>

#include "weft/gemm/tile_model.hpp"

namespace weft::gemm::internal {

inline constexpr double kLanesPerClock = 128.0;  // instruction lanes of a multiprocessor

// Of parts that overlap, but not wholly: between the longest and their sum.
inline double Overlapped(std::initializer_list<double> parts) {
  double cubes = 0.0;
  for (const double part : parts) cubes += part * part * part;
  return std::cbrt(cubes);
}

// Microseconds of a depthwise kernel (conv/depthwise.hpp), and of one with a 1x1 convolution behind it
// (conv/depthwise_pointwise_kernel.hpp). per_sm: blocks of the busiest multiprocessor. They set
// result->memory_bound; the second reads result->blocks_per_sm.
double DepthwiseMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                             const GpuFacts& gpu, Prediction* result);
double DepthwisePointwiseMicroseconds(const TileFacts& tile, const PlanCounts& counts,
                                      double per_sm, const GpuFacts& gpu, Prediction* result);

}  // namespace weft::gemm::internal
