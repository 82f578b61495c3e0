#include "weft/conv/tile_model.hpp"

#include "weft/conv/plan.hpp"

namespace weft::conv {

Prediction Predict(const Problem& problem, const TileFacts& tile, const GpuFacts& gpu) {
  const auto geometry = MakeGeometry(problem, tile);
  return gemm::Predict(geometry.ok() ? geometry->counts : gemm::PlanCounts(), tile, gpu);
}

}  // namespace weft::conv
