#include "weft/conv/depthwise_pointwise/depthwise_pointwise_plan.hpp"

#include <cstdint>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "weft/conv/problem/problem_name.hpp"
#include "weft/gemm/check/argument_checks.hpp"

namespace weft::conv {
namespace {

using gemm::Int32;

// Unimplemented if no kernel has this filter and stride.
absl::Status CheckShape(const Problem& p, int kernel) {
  if (kernel >= kFirstFusedShape && kernel < kFirstFusedShape + kFusedShapes) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrFormat(
      "conv: r=%d s=%d stride %dx%d%s is not 3x3 or 5x5 with stride 1 or 2, the filters of "
      "DepthwisePointwise; run the two halves as a Convolution each",
      p.r, p.s, p.stride_h, p.stride_w,
      p.mode == Mode::kConvolution             ? " flipped"
      : p.dilation_h != 1 || p.dilation_w != 1 ? " dilated"
                                               : ""));
}

// Says that the error is the 1x1 convolution's, whose c is the depthwise half's k and whose image
// is that half's output.
absl::Status OfPointwise(const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; said of the 1x1 convolution"));
}

}  // namespace

std::string ProblemName(const DepthwisePointwiseProblem& p) {
  return absl::StrCat(ProblemName(p.depthwise), "+k", p.k);
}

absl::StatusOr<DepthwisePointwisePlan> PlanDepthwisePointwise(
    const DepthwisePointwiseProblem& problem, const DepthwisePointwiseFacts& facts) {
  const Problem& depthwise = problem.depthwise;
  const absl::StatusOr<ConvPlan> first = MakeConvPlan(depthwise, facts.depthwise);
  if (!first.ok()) return first.status();
  const auto* own = std::get_if<DepthwisePlan>(&first->kernel);
  const Problem pointwise = problem.pointwise();
  if (problem.k >= 0 && problem.IsEmpty()) {
    DepthwisePointwisePlan nothing;
    nothing.problem = problem;
    nothing.pointwise = pointwise;
    return nothing;
  }
  if (depthwise.k == 0) return OfPointwise(MakeConvPlan(pointwise, facts.pointwise).status());
  if (absl::Status s = CheckShape(depthwise, own == nullptr ? 0 : own->kernel); !s.ok()) return s;
  const absl::StatusOr<ConvPlan> second = MakeConvPlan(pointwise, facts.pointwise);
  if (!second.ok()) return OfPointwise(second.status());

  DepthwisePointwisePlan plan;
  plan.problem = problem;
  plan.pointwise = pointwise;
  plan.kernel = own->kernel;
  plan.rows = kDepthwiseShapes[own->kernel].Rows(facts.config.rows);
  plan.iterator = own->iterator;
  plan.middle_rows = own->rows;
  // Taken alone, DepthwiseHalf has blocks of one warp with 4 patches, which are the patches of one
  // block here.
  plan.blocks = Int32(own->counts.tiles_m);
  plan.k_tiles = Int32(gemm::CeilDiv(depthwise.k, std::int64_t{32}));
  plan.k_tile_bytes = std::int64_t{std::get<MultistagePlan>(second->kernel).filter.padded_k} * 32;
  plan.padded_k = second->padded_k;
  plan.padded_middle = first->padded_k;
  const std::int64_t shared = std::int64_t{plan.k_tiles} * 32 * plan.pixels();
  if (shared > arch::kMaxSharedBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "conv: k=", depthwise.k, " channels of the ", plan.pixels(), " pixels of a block are ",
        shared, " bytes, more than the ", arch::kMaxSharedBytes,
        " of shared memory that any GPU gives one block; give config.rows less"));
  }
  plan.shared_bytes = Int32(shared);

  // The number of blocks and the padding are those of the depthwise half; the tensor between the
  // two halves is not moved, so its bytes are subtracted from both.
  PlanCounts& counts = plan.counts;
  counts = own->counts;
  counts.tiles_m = plan.blocks, counts.tiles_n = 1;
  counts.useful = static_cast<double>(depthwise.n * depthwise.p() * depthwise.q()) * depthwise.k /
                  (double(own->counts.tiles_m) * plan.pixels() * plan.k_tiles * 32);
  const double between = double(depthwise.n) * plan.padded_middle * depthwise.p() * depthwise.q();
  counts.bytes = first->counts.bytes + second->counts.bytes - 2.0 * between;
  plan.work = own->work;
  plan.blocks_by_registers = facts.blocks_by_registers[own->kernel - kFirstFusedShape];
  return plan;
}

absl::StatusOr<DepthwisePointwisePlan> DepthwisePointwisePlanner::Make(
    const DepthwisePointwiseProblem& problem, const DepthwisePointwiseFacts& facts,
    const arch::DeviceLimits* device) {
  absl::StatusOr<DepthwisePointwisePlan> plan = PlanDepthwisePointwise(problem, facts);
  if (!plan.ok() || device == nullptr) return plan;
  if (absl::Status s = gemm::CheckDevice("conv", LaunchFacts(*plan, facts.tile), *device);
      !s.ok()) {
    return s;
  }
  return plan;
}

std::string DepthwisePointwisePlanner::Describe(const DepthwisePointwisePlan& plan,
                                                const DepthwisePointwiseFacts& facts) {
  if (plan.problem.IsEmpty()) return "nothing to do: dst has no elements";
  const DepthwiseShape& shape = kDepthwiseShapes[plan.kernel];
  // perf/fused_bench: the depthwise half of few pixels waits for its rows, and the tensor between the
  // halves is small.
  constexpr std::int64_t kFewPixels = 14 * 14;
  const bool few = plan.pointwise.p() * plan.pointwise.q() < kFewPixels;
  return absl::StrFormat(
      "depthwise %dx%d stride %d of %d channels, thread of 4 channels by %dx%d pixels, then 1x1 to "
      "%d channels, warp of %dx%d; %d blocks of %d threads, %d bytes shared, %s -> %s%s",
      shape.r, shape.s, shape.stride, plan.pointwise.c, plan.rows, DepthwiseConfig::kColumns,
      plan.pointwise.k, plan.pixels(), facts.config.warp_n, plan.blocks, facts.config.warps * 32,
      plan.shared_bytes, facts.src_layout, facts.dst_layout,
      few ? "; below 14x14 outputs two kernels are quicker (the halves)" : "");
}

}  // namespace weft::conv
