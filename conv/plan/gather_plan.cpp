#include "weft/conv/plan/gather_plan.hpp"

#include <algorithm>

namespace weft::conv {

GatherPlan MakeGatherPlan(const Problem& p, const ConvFacts& f) {
  using gemm::CeilDiv;
  using gemm::Int32;
  constexpr std::int64_t kRow = gemm::kGatherRowBytes, kStep = 32, kStepUnits = 4;
  const gemm::TileShape& tile = f.config.threadblock;
  const std::int64_t units = p.c / p.groups / f.source.unit_channels * p.r * p.s;
  GatherPlan plan;
  plan.pixels = MakePixelMap(p, f);
  plan.source = MakeIm2col(p, f);
  plan.filter = MakeFilter(p, f);
  plan.rows = (f.prologue.depends.image ? 1 : p.n) * p.p() * p.q();
  plan.k_tiles = Int32(CeilDiv(units, std::int64_t{gemm::kGatherUnits}));

  gemm::MbarRingParams& ring = plan.ring;
  ring.b_offset = Int32(tile.m * kRow);
  ring.stage_bytes = ring.b_stride = Int32((tile.m + tile.n) * kRow);
  ring.stages = Int32(std::min<std::int64_t>(f.wgmma.stage_bytes / ring.stage_bytes,
                                             gemm::MbarRingParams::kMostStages));

  gemm::WgmmaPlan& steps = plan.plan;
  steps.a = steps.b = arch::WgmmaDescriptor(
      0, {.swizzle = arch::SwizzleSpan::k128, .leading = 16, .stride = 8 * kRow});
  steps.SpreadGroups(static_cast<std::uint32_t>(f.config.warp.m * kRow / 16));
  steps.b_block = 64 * kRow / 16;
  steps.steps = Int32(kRow / kStep);
  steps.last_steps = Int32(CeilDiv(units - (plan.k_tiles - 1) * gemm::kGatherUnits, kStepUnits));
  for (std::uint32_t i = 0; i < kRow / kStep; ++i)
    steps.step_a[i] = steps.step_b[i] = i * kStep / 16;

  // The tile model counts the clocks of the threads that load, for all rows of A in a k tile and
  // for all columns of B in a step.
  constexpr double kInstructions = 12.0;  // for a piece of 8 bytes
  constexpr double kLanes = 128.0;        // of a multiprocessor, in a clock
  plan.copy_clocks = kInstructions * tile.m * gemm::kGatherUnits / kLanes;
  plan.column_clocks = kInstructions * tile.n * kStepUnits / kLanes;
  return plan;
}

gemm::WgmmaCounts CountsOf(const GatherPlan& g) {
  gemm::WgmmaCounts counts = CountsOf(static_cast<const RingPlan&>(g));
  counts.copies = counts.last_copies = 1;
  counts.copy_clocks = g.copy_clocks;
  counts.column_clocks = g.column_clocks;
  return counts;
}

}  // namespace weft::conv
