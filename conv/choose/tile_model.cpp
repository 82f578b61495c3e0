#include "weft/conv/choose/tile_model.hpp"

#include <variant>

#include "weft/conv/choose/depthwise_model.hpp"
#include "weft/conv/planner/plan.hpp"

namespace weft::conv {

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

}  // namespace weft::conv
