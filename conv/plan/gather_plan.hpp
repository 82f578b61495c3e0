// The host's part of wgmma_sm90 convolutions whose operands are loaded by threads, because TMA
// cannot read their rows (conv/hopper/gathered_operands.hpp).
#pragma once

#include "weft/conv/hopper/gathered_operands.hpp"
#include "weft/conv/plan/multistage_plan.hpp"
#include "weft/conv/plan/wgmma_plan.hpp"

namespace weft::conv {

// The kernel's parameters without pointers.
struct GatherPlan : RingPlan {
  Im2colParams source;
  FilterParams filter;
  PixelMap pixels;
  double copy_clocks = 0.0, column_clocks = 0.0;  // as in gemm::WgmmaCounts
};

// The plan of a problem that CheckIndices has accepted. Every such problem has one.
GatherPlan MakeGatherPlan(const Problem& problem, const ConvFacts& facts);

// What the tile model needs of the plan.
gemm::WgmmaCounts CountsOf(const GatherPlan& plan);

}  // namespace weft::conv
