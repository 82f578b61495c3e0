// From a problem to what a kernel is launched with: ConvPlan makes every check that needs no
// pointer, and holds a plan for the kind of kernel and the grid. conv/launch/start.hpp makes the
// kernel's parameters from it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "weft/conv/depthwise/depthwise_plan.hpp"
#include "weft/conv/plan/first_layer_plan.hpp"
#include "weft/conv/plan/gather_plan.hpp"
#include "weft/conv/plan/multistage_plan.hpp"
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

// A problem that passed every check for one policy, and its launch: all of the kernel's parameters
// except for pointers and the values of the epilogue.
struct ConvPlan {
  Problem problem;
  PlanCounts counts;
  prologues::BatchExtents batch;
  PoolFacts pool;             // of the output, before it is written
  std::int32_t padded_k = 0;  // output channels with those that fill the last dst block
  bool patches = false;       // the kernel is planned for PatchColumns(problem)
  // The plan for the policy's kind of kernel, in the order of Kind. An empty problem has a
  // default-constructed one.
  std::variant<MultistagePlan, TmaPlan, FirstLayerPlan, GatherPlan, DepthwisePlan> kernel;

  // The extents of what the kernel writes.
  TensorExtents dst() const { return pool.Of(problem.dst()); }
  Kind kind() const { return static_cast<Kind>(kernel.index()); }
  // The number of the kernel among those of its policy.
  int number() const {
    return std::visit([](const auto& own) { return own.number(); }, kernel);
  }

  // What wgmma_sm90 kernels have in common; null for kernels of other mainloops.
  const RingPlan* ring() const {
    if (const auto* tma = std::get_if<TmaPlan>(&kernel)) return tma;
    if (const auto* first_layer = std::get_if<FirstLayerPlan>(&kernel)) return first_layer;
    return std::get_if<GatherPlan>(&kernel);
  }
  arch::Dim3 grid() const { return {static_cast<int>(counts.blocks()), 1, 1}; }
};

// Whether a policy reads the source of a problem, which CheckProblem has accepted, as PatchColumns.
bool ReadsPatches(const Problem& problem, const ConvFacts& facts);

// Checks `problem` against a policy and plans it. Over NHWC, problems that have PatchColumns are planned as
// these where the policy takes them so: a stride in W is none then, and accesses and k tiles are of the
// channels of a whole row of a patch. The errors are those of CheckProblem;
// InvalidArgument where K, C or the groups do not fit the layouts, or the kind of kernel does not
// take the problem; OutOfRange where a 32-bit index of the kernel would overflow; Unimplemented for
// a SourceFunctor with wgmma_sm90.
absl::StatusOr<ConvPlan> MakeConvPlan(const Problem& problem, const ConvFacts& facts);

struct PolicyImage;  // conv/launch/image.hpp
struct ConvRun;      // conv/launch/run.hpp

// How gemm::Dispatch gets the plans of convolutions, which need no kernel.
struct ConvolutionPlanner {
  using Problem = conv::Problem;
  using Facts = ConvFacts;
  using Plan = ConvPlan;
  using Image = PolicyImage;
  using Run = ConvRun;
  static const gemm::TileFacts& TileOf(const Facts& facts) { return facts; }
  // Checks and errors are those of Convolution::Create. device: null for the CPU.
  static absl::StatusOr<Plan> Make(const Problem& problem, const Facts& facts,
                                   const arch::DeviceLimits* device);
  static Prediction Predict(const Plan& plan, const Facts& facts, const GpuFacts& gpu);
  static Prediction Predict(const Plan& plan, const Facts& facts, const CpuFacts& cpu);
  // One line for people: tile, path, grid, shared memory, layouts.
  static std::string Describe(const Plan& plan, const Facts& facts);
};

// The extents of one filter, as PackFilter and PackDepthwiseFilter take them.
FilterExtents PackedExtents(const Problem& problem, bool depthwise);

// InvalidArgument if the filter was packed for other extents than `wanted`, or if its bank holds
// `count` filters and the prologue needs another number (`filters`; 0: it takes any). field: the
// argument's name.
absl::Status CheckFilter(const FilterExtents& wanted, const FilterExtents& packed,
                         std::int64_t count, std::int64_t filters, const char* prologue,
                         const char* field = "filter");

}  // namespace weft::conv
