// The tile model's part for depthwise kernels.
#include <algorithm>
#include <cmath>

#include "weft/gemm/tile_model_parts.hpp"

namespace weft::gemm::internal {
namespace {

// Instructions of a depthwise thread: itself, a row of the source, and an output row with up to four
// taps of a row of the filter. Fitted to the layers of perf/layers/ on an H200, 3 x 3 filters.
double DepthwiseInstructions(const PlanCounts& counts) {
  constexpr double kThread = 110.0, kSourceRow = 90.0, kTaps = 34.0;
  return kThread + kSourceRow * counts.source_rows + kTaps * counts.output_rows * counts.slices;
}
// Of the lesser of computing and memory, which comes on top.
constexpr double kDepthwiseNext = 0.42;

}  // namespace

// Microseconds of a depthwise kernel (conv/depthwise.hpp), whose threads read rows of the source and
// move them through rows of outputs. Fitted like the instructions.
double DepthwiseMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                             const GpuFacts& gpu, Prediction* result) {
  constexpr double kLaunch = 3.1;  // microseconds; it does not start while another kernel runs
  // Of the memory's time, more where a pixel's channels of a block are 32 of a longer row.
  constexpr double kScattered = 0.25;
  const double compute =
      per_sm * tile.threads * DepthwiseInstructions(counts) / kLanesPerClock / gpu.clock_mhz;
  const double scattered = tile.nhwc ? kScattered * 32.0 / tile.config.threadblock.n : 0.0;
  const double memory = counts.bytes * (1.0 + scattered) / gpu.bytes_per_us;
  result->memory_bound = memory > compute;
  return kLaunch + std::max(compute, memory) + kDepthwiseNext * std::min(compute, memory);
}

// Microseconds of a depthwise kernel with the 1x1 convolution behind it
// (conv/depthwise_pointwise_kernel.hpp). Fitted to the quickest tiles of fused_bench on an H200, whose
// list has no other times: docs/depthwise_pointwise.md says how often the choice is the same.
double DepthwisePointwiseMicroseconds(const TileFacts& tile, const PlanCounts& counts,
                                      double per_sm, const GpuFacts& gpu, Prediction* result) {
  constexpr double kLaunch = 2.8;
  constexpr double kWrite = 47.0;   // instructions of a warp for a row of patches to shared memory
  constexpr double kProduct = 2.0;  // ... for m16n8k32, with its loads
  constexpr double kStore = 56.0;   // ... for the epilogue of 16 x 8 outputs
  constexpr double kColumns = 310.0;  // ... for a warp's columns, once
  constexpr double kAlone = 1.2;  // clocks of an instruction of a warp that has no other beside it
  constexpr double kFilter = 320.0;  // clocks that it waits for the filter of a slice
  const TileShape& warp = tile.config.warp;
  // A cluster's blocks share slices and groups: that was not fitted.
  const double split = tile.config.split, warps = split * tile.threads / 32.0;
  const double rows = counts.output_rows, slices = counts.middle_slices;
  const double groups = CeilDiv(counts.padded_k, warp.n);  // of output channels
  const double slice = DepthwiseInstructions(counts) + kWrite * rows;
  const double products = rows * warp.n / 8.0;  // of a slice and a group
  const double group = slices * kProduct * products + kStore * products + kColumns;
  // Of all warps of a multiprocessor, which has four that issue; and of the slowest of a block's.
  const double together = per_sm / split * (slices * slice + groups * group) / 4.0;
  const double alone = std::ceil(slices / warps) * slice * kAlone +
                       std::ceil(groups / warps) * (group * kAlone + slices * kFilter);
  const double compute =
      Overlapped({together, std::ceil(per_sm / result->blocks_per_sm) * alone}) / gpu.clock_mhz;
  const double memory = counts.bytes / gpu.bytes_per_us;
  result->memory_bound = memory > compute;
  return kLaunch + std::max(compute, memory) + kDepthwiseNext * std::min(compute, memory);
}

}  // namespace weft::gemm::internal
