#include "weft/conv/choose/tile_model.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "weft/conv/depthwise/depthwise_plan.hpp"
#include "weft/conv/depthwise_pointwise/depthwise_pointwise_plan.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/gemm/choose/tile_model_parts.hpp"

namespace weft::conv {
namespace {

using gemm::internal::kLanesPerClock;
using gemm::internal::Overlapped;
using gemm::internal::SpreadOverCpu;
using gemm::internal::SpreadOverGpu;

// Instructions of a depthwise thread: itself, a row of the source, and an output row with up to four
// taps of a row of the filter. Fitted to the layers of perf/layers/ on an H200, 3 x 3 filters.
double Instructions(const DepthwiseWork& work) {
  constexpr double kThread = 110.0, kSourceRow = 90.0, kTaps = 34.0;
  return kThread + kSourceRow * work.source_rows + kTaps * work.output_rows * work.packets;
}
// The time of a kernel that computes for `compute` microseconds and waits for memory for `memory`.
void SetTime(double launch, double compute, double memory, Prediction* result) {
  constexpr double kNext = 0.42;  // of the lesser of the two, which comes on top
  result->memory_bound = memory > compute;
  result->microseconds = launch + std::max(compute, memory) + kNext * std::min(compute, memory);
}

// Threads read rows of the source and move them through rows of outputs. Fitted like the instructions.
// counts: with the bytes.
Prediction PredictDepthwise(const DepthwiseWork& work, const PlanCounts& counts,
                            const ConvFacts& facts, const GpuFacts& gpu) {
  double per_sm = 0.0;
  Prediction result = SpreadOverGpu(counts, facts, gpu, &per_sm);
  if (std::isinf(result.microseconds)) return result;
  constexpr double kLaunch = 3.1;  // microseconds; it does not start while another kernel runs
  // Of the memory's time, more where a pixel's channels of a block are 32 of a longer row.
  constexpr double kScattered = 0.25;
  const double compute =
      per_sm * facts.threads * Instructions(work) / kLanesPerClock / gpu.clock_mhz;
  const double scattered = facts.source.nhwc ? kScattered * 32.0 / facts.config.threadblock.n : 0.0;
  const double memory = counts.bytes * (1.0 + scattered) / gpu.bytes_per_us;
  SetTime(kLaunch, compute, memory, &result);
  return result;
}

}  // namespace

Prediction ConvolutionPlanner::Predict(const ConvPlan& plan, const ConvFacts& facts,
                                       const GpuFacts& gpu) {
  if (const auto* depthwise = std::get_if<DepthwisePlan>(&plan.kernel)) {
    return PredictDepthwise(depthwise->work, plan.counts, facts, gpu);
  }
  return gemm::Predict(plan.counts, facts, gpu);
}

// The executor's time for a depthwise kernel is that of a product of as many multiplications.
Prediction ConvolutionPlanner::Predict(const ConvPlan& plan, const ConvFacts& facts,
                                       const CpuFacts& cpu) {
  return gemm::Predict(plan.counts, facts, cpu);
}

Prediction Predict(const Problem& problem, const ConvFacts& tile, const GpuFacts& gpu) {
  const absl::StatusOr<ConvPlan> plan = MakeConvPlan(problem, tile);
  return ConvolutionPlanner::Predict(plan.ok() ? *plan : ConvPlan(), tile, gpu);
}

// Fitted to the quickest tiles of fused_bench on an H200, whose list has no other times:
// docs/depthwise_pointwise.md says how often the choice is the same.
Prediction DepthwisePointwisePlanner::Predict(const DepthwisePointwisePlan& plan,
                                              const DepthwisePointwiseFacts& facts,
                                              const GpuFacts& gpu) {
  const gemm::TileFacts tile = LaunchFacts(plan, facts.tile);
  double per_sm = 0.0;
  Prediction result = SpreadOverGpu(plan.counts, tile, gpu, &per_sm);
  if (std::isinf(result.microseconds)) return result;
  constexpr double kLaunch = 2.8;
  constexpr double kWrite = 47.0;   // instructions of a warp for a row of patches to shared memory
  constexpr double kProduct = 2.0;  // ... for m16n8k32, with its loads
  constexpr double kStore = 56.0;   // ... for the epilogue of 16 x 8 outputs
  constexpr double kColumns = 310.0;  // ... for a warp's columns, once
  constexpr double kAlone = 1.2;  // clocks of an instruction of a warp that has no other beside it
  constexpr double kFilter = 320.0;  // clocks that it waits for the filter of a k tile
  const gemm::TileShape& warp = tile.config.warp;
  const double warps = tile.threads / 32.0;
  const double rows = plan.work.output_rows, k_tiles = plan.k_tiles;
  const double groups = gemm::CeilDiv(plan.padded_k, warp.n);  // of output channels
  const double k_tile = Instructions(plan.work) + kWrite * rows;
  const double products = rows * warp.n / 8.0;  // of a k tile and a group
  const double group = k_tiles * kProduct * products + kStore * products + kColumns;
  // Of all warps of a multiprocessor, which has four that issue; and of the slowest of a block's.
  const double together = per_sm * (k_tiles * k_tile + groups * group) / 4.0;
  const double alone = std::ceil(k_tiles / warps) * k_tile * kAlone +
                       std::ceil(groups / warps) * (group * kAlone + k_tiles * kFilter);
  const double compute =
      Overlapped({together, std::ceil(per_sm / result.blocks_per_sm) * alone}) / gpu.clock_mhz;
  const double memory = plan.counts.bytes / gpu.bytes_per_us;
  SetTime(kLaunch, compute, memory, &result);
  return result;
}

// Not fitted: the products of both halves.
Prediction DepthwisePointwisePlanner::Predict(const DepthwisePointwisePlan& plan,
                                              const DepthwisePointwiseFacts& facts,
                                              const CpuFacts& cpu) {
  double per_thread = 0.0;
  Prediction result = SpreadOverCpu(plan.counts, facts.tile, cpu, &per_thread);
  const double values = 16.0 * plan.work.output_rows * 32.0 * plan.k_tiles;
  const double products = values * (4.0 * plan.work.packets + plan.padded_k);
  result.microseconds = per_thread * (0.16 * products + 300.0 * facts.tile.threads) * 1e-3;
  return result;
}

}  // namespace weft::conv
