// Plans the launch of a conv::DepthwisePointwiseKernel for a depthwise problem and a number of
// output channels of the 1x1 convolution.
#pragma once

#include <cstdint>
#include <string>

#include "weft/conv/plan/conv_plan.hpp"
#include "weft/conv/policy/depthwise_pointwise_policy.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/depthwise_pointwise_problem.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// What host code knows of a DepthwisePointwise policy, as values, so that plans are compiled once.
struct DepthwisePointwiseFacts {
  ConvFacts depthwise, pointwise;
  gemm::TileFacts tile;  // of the one kernel
  DepthwisePointwiseConfig config;
  // Blocks that a multiprocessor's registers allow, for each kernel.
  int blocks_by_registers[kFusedShapes] = {};
  const char* src_layout = "";
  const char* dst_layout = "";
};

// All of a launch but the addresses and the values of the epilogues.
struct DepthwisePointwisePlan {
  DepthwisePointwiseProblem problem;
  Problem pointwise;  // the 1x1 convolution of `problem`
  int kernel = 0;     // an index of kDepthwiseShapes
  int rows = 0;       // output rows of a thread
  DepthwiseIteratorParams iterator;
  DepthwiseRows middle_rows;
  std::int32_t blocks = 0;         // one to each 4 patches
  std::int32_t k_tiles = 0;        // of the 1x1 convolution, 32 channels each
  std::int64_t k_tile_bytes = 0;   // bytes of the 1x1 filter for one of them
  std::int32_t padded_k = 0;       // output channels with those that fill the last dst block
  std::int32_t padded_middle = 0;  // the same of the channels between the two
  std::int32_t shared_bytes = 0;
  int blocks_by_registers = 0;  // that fit a multiprocessor, for this kernel
  // For the tile model: the launch, and the work of a thread of the depthwise half.
  PlanCounts counts;
  DepthwiseWork work;  // of one thread

  int pixels() const { return 16 * rows; }  // of a block
};

// Errors are those of MakeConvPlan for each half; Unimplemented for filters and strides that no
// kernel has; ResourceExhausted if the channels fit in no GPU's shared memory.
absl::StatusOr<DepthwisePointwisePlan> PlanDepthwisePointwise(
    const DepthwisePointwiseProblem& problem, const DepthwisePointwiseFacts& facts);

struct FusedImage;  // conv/launch/depthwise_pointwise_start.hpp
struct FusedRun;

// What gemm::Dispatch asks of these operators, as ConvolutionPlanner is for convolutions.
struct DepthwisePointwisePlanner {
  using Problem = DepthwisePointwiseProblem;
  using Facts = DepthwisePointwiseFacts;
  using Plan = DepthwisePointwisePlan;
  using Image = FusedImage;
  using Run = FusedRun;
  static const gemm::TileFacts& TileOf(const Facts& facts) { return facts.tile; }
  static absl::StatusOr<Plan> Make(const Problem& problem, const Facts& facts,
                                   const arch::DeviceLimits* device);
  static Prediction Predict(const Plan& plan, const Facts& facts, const GpuFacts& gpu);
  static Prediction Predict(const Plan& plan, const Facts& facts, const CpuFacts& cpu);
  // A description in one line: both halves, blocks, shared memory.
  static std::string Describe(const Plan& plan, const Facts& facts);
};

// The facts of `tile`, with the shared memory that the plan's problem needs and the registers of
// its kernel.
inline gemm::TileFacts LaunchFacts(const DepthwisePointwisePlan& plan, gemm::TileFacts tile) {
  tile.shared_bytes = plan.shared_bytes;
  if (plan.blocks_by_registers > 0) tile.blocks_by_registers = plan.blocks_by_registers;
  return tile;
}

}  // namespace weft::conv
