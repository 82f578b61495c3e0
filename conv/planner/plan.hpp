// From a problem to what a kernel is launched with: every check that needs no pointer, a plan for each
// kind of kernel, and the grid. conv/planner/make_params.hpp makes the kernel's parameters of it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "weft/conv/depthwise/depthwise_plan.hpp"
#include "weft/conv/plan/gather_plan.hpp"
#include "weft/conv/plan/multistage_plan.hpp"
#include "weft/conv/plan/sliding_window_plan.hpp"
#include "weft/conv/plan/wgmma_plan.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/conv/problem/problem_checks.hpp"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/choose/tile_model.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

using gemm::CpuFacts;
using gemm::GpuFacts;
using gemm::PlanCounts;
using gemm::Prediction;

// A problem that passed every check for one policy, and its launch: all of the parameters but the
// pointers and the values of the epilogue.
struct ConvPlan {
  Problem problem;
  PlanCounts counts;
  prologues::BatchExtents batch;
  std::int32_t padded_k = 0;  // output channels with those that fill the last dst block
  // Of an empty problem a default one.
  std::variant<MultistagePlan, TmaPlan, StripPlan, GatherPlan, DepthwisePlan> kernel;

  // Of wgmma_sm90, else null.
  const RingPlan* ring() const {
    if (const auto* tma = std::get_if<TmaPlan>(&kernel)) return tma;
    if (const auto* strips = std::get_if<StripPlan>(&kernel)) return strips;
    return std::get_if<GatherPlan>(&kernel);
  }
  arch::Dim3 grid() const { return {static_cast<int>(counts.blocks()), 1, 1}; }
};

// Checks `problem` against a policy. InvalidArgument as for CheckProblem, and where K, C or the
// groups do not fit the layouts; OutOfRange where a 32-bit index of the kernel would overflow.
absl::StatusOr<ConvPlan> MakeConvPlan(const Problem& problem, const ConvFacts& facts);

// What gemm::Dispatch asks of convolutions: plans, which need no kernel.
struct ConvolutionPlanner {
  using Problem = conv::Problem;
  using Facts = ConvFacts;
  using Plan = ConvPlan;
  static const gemm::TileFacts& TileOf(const Facts& facts) { return facts; }
  // As Convolution::Create. device: null for the CPU.
  static absl::StatusOr<Plan> Make(const Problem& problem, const Facts& facts,
                                   const arch::DeviceLimits* device);
  static Prediction Predict(const Plan& plan, const Facts& facts, const GpuFacts& gpu);
  static Prediction Predict(const Plan& plan, const Facts& facts, const CpuFacts& cpu);
  // One line for people: tile, path, grid, shared memory, layouts.
  static std::string Describe(const Plan& plan, const Facts& facts);
};

// InvalidArgument if the filter was packed for other extents than `wanted`, or if the bank has not
// the filters that the prologue wants (`filters`; 0: any number). field: of the arguments.
absl::Status CheckFilter(const FilterExtents& wanted, const FilterExtents& packed,
                         std::int64_t count, std::int64_t filters, const char* prologue,
                         const char* field = "filter");

}  // namespace weft::conv
