// From a depthwise problem and a number of output channels to the launch of
// conv::DepthwisePointwiseKernel.
#pragma once

#include <cstdint>
#include <string>

#include "weft/conv/planner/plan.hpp"
#include "weft/conv/policy/depthwise_pointwise_policy.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/depthwise_pointwise_problem.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// What both halves of a DepthwisePointwise say, compiled once.
struct DepthwisePointwiseFacts {
  ConvFacts depthwise, pointwise;
  gemm::TileFacts tile;  // DepthwisePointwise::Facts()
  DepthwisePointwiseConfig config;
  int blocks_by_registers[kFusedShapes] = {};  // of a multiprocessor, for each kernel
  const char* src_layout = "";
  const char* dst_layout = "";
};

// The launch, addresses and the values of epilogues aside.
struct DepthwisePointwisePlan {
  DepthwisePointwiseProblem problem;
  Problem pointwise;  // its
  int kernel = 0;     // of kDepthwiseShapes
  int rows = 0;       // of a thread
  DepthwiseIteratorParams iterator;
  DepthwiseRows middle_rows;
  std::int32_t blocks = 0;         // config.split to each 4 patches
  std::int32_t k_tiles = 0;        // of 32 channels between the two
  std::int64_t k_tile_bytes = 0;   // of the 1x1 filter
  std::int32_t padded_k = 0;       // output channels with those that fill the last dst block
  std::int32_t padded_middle = 0;  // channels between the two, likewise
  std::int32_t shared_bytes = 0;
  int blocks_by_registers = 0;  // of a multiprocessor
  PlanCounts counts;            // for the tile model, and ...
  DepthwiseWork work;           // ... of a thread of the depthwise half

  int pixels() const { return 16 * rows; }  // of a block
};

// Errors as MakeConvPlan's for each half. Unimplemented for filters and strides that no kernel has;
// ResourceExhausted for channels that fit in no GPU's shared memory.
absl::StatusOr<DepthwisePointwisePlan> PlanDepthwisePointwise(
    const DepthwisePointwiseProblem& problem, const DepthwisePointwiseFacts& facts);

// What gemm::Dispatch asks of these operators, as of convolutions (ConvolutionPlanner).
struct DepthwisePointwisePlanner {
  using Problem = DepthwisePointwiseProblem;
  using Facts = DepthwisePointwiseFacts;
  using Plan = DepthwisePointwisePlan;
  static const gemm::TileFacts& TileOf(const Facts& facts) { return facts.tile; }
  static absl::StatusOr<Plan> Make(const Problem& problem, const Facts& facts,
                                   const arch::DeviceLimits* device);
  static Prediction Predict(const Plan& plan, const Facts& facts, const GpuFacts& gpu);
  static Prediction Predict(const Plan& plan, const Facts& facts, const CpuFacts& cpu);
  // One line: both halves, blocks, shared memory.
  static std::string Describe(const Plan& plan, const Facts& facts);
};

// The tile's, with the shared memory of the plan's problem and the registers of its kernel.
inline gemm::TileFacts LaunchFacts(const DepthwisePointwisePlan& plan, gemm::TileFacts tile) {
  tile.shared_bytes = plan.shared_bytes;
  if (plan.blocks_by_registers > 0) tile.blocks_by_registers = plan.blocks_by_registers;
  return tile;
}

}  // namespace weft::conv
