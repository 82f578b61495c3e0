// From a matrix product to what its kernels are launched with: every check that needs no pointer, how
// the work is cut into blocks, and what TMA loads for wgmma_sm90.
#pragma once

#include <string>
#include <vector>

#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/check/gemm_checks.hpp"
#include "weft/gemm/choose/tile_model.hpp"
#include "weft/gemm/hopper/tma_matrix.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// Of one operand: its map, but for the address, and its parameters, but for the map.
struct TmaMatrix {
  arch::TensorMapSpec spec;
  MatrixCopies params;
  std::int32_t k_tile_bytes = 0;  // in shared memory
};

// Of a kernel of wgmma_sm90.
struct WgmmaGemmPlan {
  TmaMatrix a, b;
  MbarRingParams ring;
  WgmmaPlan plan;
};

// A product that passed every check for one policy.
struct GemmPlan {
  GemmProblem problem;  // with its leading dimensions and strides
  PlanCounts counts;    // of Grouped: as if all groups had the same number of rows
  // What a scheduler is made of: rows of tiles of a product, those of all groups together with Grouped;
  // and how many tiles there are, which is as many blocks as are started at most.
  std::int32_t tile_rows = 0, tiles = 0;
  WgmmaGemmPlan tma;  // wgmma_sm90
};

// As CheckGemmProblem; OutOfRange for more than 2^31 - 1 blocks.
absl::StatusOr<GemmPlan> MakeGemmPlan(const GemmProblem& problem, const GemmFacts& facts);

// The counts of a list of products as those of one: the tiles of all, with as many k tiles as these have
// on average.
PlanCounts CountsOfList(const std::vector<PlanCounts>& products);

// Rows of tiles that BandedTileGrid goes through together.
std::int32_t BandOf(const TileShape& tile);

// One line for people: tile, grid, shared memory, layouts.
std::string DescribeGemm(const GemmPlan& plan, const GemmFacts& facts);

// What Dispatch (gemm/choose/choice.hpp) asks of products: plans, which need no kernel.
struct GemmPlanner {
  using Problem = GemmProblem;
  using Facts = GemmFacts;
  using Plan = GemmPlan;
  static const TileFacts& TileOf(const Facts& facts) { return facts; }
  // As Gemm::Create. device: null for the CPU.
  static absl::StatusOr<Plan> Make(const Problem& problem, const Facts& facts,
                                   const arch::DeviceLimits* device);
  static std::string Describe(const Plan& plan, const Facts& facts) {
    return DescribeGemm(plan, facts);
  }
  // machine: GpuFacts or CpuFacts.
  template <class Machine>
  static Prediction Predict(const Plan& plan, const Facts& facts, const Machine& machine) {
    return gemm::Predict(plan.counts, facts, machine);
  }
};

}  // namespace weft::gemm
