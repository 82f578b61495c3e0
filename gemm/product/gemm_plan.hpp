// From a matrix product to what its kernels are launched with. The plan makes every check that
// needs no pointer, cuts the work into blocks, and says what TMA loads for wgmma_sm90.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/check/gemm_checks.hpp"
#include "weft/gemm/choose/tile_model.hpp"
#include "weft/gemm/hopper/tma_matrix.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// What TMA loads of one operand: the tensor map's specification without the address, and the
// operand's parameters without the map.
struct TmaMatrix {
  arch::TensorMapSpec spec;
  MatrixCopies params;
  std::int32_t k_tile_bytes = 0;  // of a k tile in shared memory
};

// The wgmma_sm90 part of a plan.
struct WgmmaGemmPlan {
  TmaMatrix a, b;
  MbarRingParams ring;
  WgmmaPlan plan;
};

// A product that passed every check for one policy.
struct GemmPlan {
  GemmProblem problem;  // with its leading dimensions and strides
  PlanCounts counts;    // for Grouped as if all groups had the same number of rows
  // What the scheduler needs. tile_rows: the rows of tiles of a product, for Grouped of all groups
  // together. tiles: all tiles, for each of which at most one block or cluster starts.
  std::int32_t tile_rows = 0, tiles = 0;
  bool ragged_k = false;  // the last access to a line of an operand is not all k
  WgmmaGemmPlan tma;      // wgmma_sm90
};

// The plan of a problem. Its errors are those of CheckGemmProblem; OutOfRange for more than 2^31 -
// 1 blocks.
absl::StatusOr<GemmPlan> MakeGemmPlan(const GemmProblem& problem, const GemmFacts& facts);

// The height of BandedTileGrid's bands: the rows of tiles whose tiles blocks take together.
std::int32_t BandOf(const TileShape& tile);

// One line for people: tile, grid, shared memory, layouts.
std::string DescribeGemm(const GemmPlan& plan, const GemmFacts& facts);

struct GemmImage;  // gemm/product/gemm_image.hpp
struct GemmRun;    // gemm/product/gemm_start.hpp

// How Dispatch (gemm/choose/choice.hpp) gets the plans of matrix products, which need no kernel.
struct GemmPlanner {
  using Problem = GemmProblem;
  using Facts = GemmFacts;
  using Plan = GemmPlan;
  using Image = GemmImage;
  using Run = GemmRun;
  static const TileFacts& TileOf(const Facts& facts) { return facts; }
  // Checks and errors are those of Gemm::Create. device: null for the CPU.
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

// A list of products, each of which passed every check for one policy.
struct GemmListPlan {
  std::vector<GemmPlan> products;
  std::vector<std::int32_t> first = {0};  // tiles before each product, then their total
  std::size_t some = 0;   // the first product that has tiles; products.size() if none has
  bool ragged_k = false;  // of a product of it

  std::int32_t tiles() const { return first.back(); }
};

// How Gemm<Listed<P>> gets its plan; checks and errors are those of its Create. device: null for the CPU.
absl::StatusOr<GemmListPlan> MakeGemmListPlan(absl::Span<const GemmProblem> problems,
                                              const GemmFacts& facts,
                                              const arch::DeviceLimits* device);

}  // namespace weft::gemm
