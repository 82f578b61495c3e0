// Plans the launch of a conv::BottleneckKernel.
#pragma once

#include <cstdint>
#include <string>

#include "weft/conv/bottleneck/bottleneck_image.hpp"
#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/conv/policy/bottleneck_policy.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/bottleneck_problem.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The problem in one word: n64c256h56w56k256.
std::string ProblemName(const BottleneckProblem& problem);

// The convolution that is part number `part` (BottleneckPartName).
Problem PartOf(const BottleneckProblem& problem, int part);

// All of a launch but the addresses and the values of the epilogues.
struct BottleneckPlan {
  BottleneckProblem problem;
  BottleneckTiling tiling;
  gemm::PlanCounts counts;

  std::int32_t shared_bytes() const { return tiling.at.all; }
};

// InvalidArgument names the field of a problem that a bottleneck has not; ResourceExhausted if
// filters and patches need more shared memory than a block can have.
absl::StatusOr<BottleneckPlan> PlanBottleneck(const BottleneckProblem& problem,
                                              const BottleneckFacts& facts);

// What gemm::PlannedOperator asks of these operators.
struct BottleneckPlanner {
  using Problem = BottleneckProblem;
  using Plan = BottleneckPlan;
  // The errors of PlanBottleneck, and FailedPrecondition if `device`, unless it is null, cannot run the policy.
  static absl::StatusOr<Plan> Make(const Problem& problem, const BottleneckFacts& facts,
                                   const arch::DeviceLimits* device);
  // A description in one line.
  static std::string Describe(const Plan& plan, const BottleneckFacts& facts);
};

// The facts of `tile`, with the shared memory that the plan needs.
inline gemm::TileFacts LaunchFacts(const BottleneckPlan& plan, gemm::TileFacts tile) {
  tile.shared_bytes = plan.shared_bytes();
  return tile;
}

// The tensor maps of x for the tiles of a column, of a part's filter, and of y; of the tensor at `base`.
arch::TensorMapSpec SourceSpec(const BottleneckPlan& plan, int rows, int column, const void* base);
arch::TensorMapSpec FilterSpec(const Problem& part);
arch::TensorMapSpec OutputSpec(const BottleneckPlan& plan, int rows);

// The faster of kBottleneck14x2x3 and kBottleneck8x3x4 on a GPU with so many multiprocessors, by a model. It does not ask
// whether the channels fit, which Create does.
BottleneckConfig BottleneckTileFor(const BottleneckProblem& problem, int multiprocessors);

}  // namespace weft::conv
