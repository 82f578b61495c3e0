#include "weft/conv/tile_model.hpp"

#include "weft/conv/plan.hpp"

namespace weft::conv {
namespace {

gemm::PlanCounts CountsOf(const Problem& problem, const TileFacts& tile) {
  const auto geometry = MakeGeometry(problem, tile);
  return geometry.ok() ? geometry->counts : gemm::PlanCounts();
}

}  // namespace

Prediction Predict(const Problem& problem, const TileFacts& tile, const GpuFacts& gpu) {
  return gemm::Predict(CountsOf(problem, tile), tile, gpu);
}

Prediction Predict(const Problem& problem, const TileFacts& tile, const CpuFacts& cpu) {
  return gemm::Predict(CountsOf(problem, tile), tile, cpu);
}

}  // namespace weft::conv
