// The host's part of wgmma_sm90 convolutions whose operands threads load
// (conv/hopper/gathered_operands.hpp).
#pragma once

#include "weft/conv/hopper/gathered_operands.hpp"
#include "weft/conv/plan/multistage_plan.hpp"
#include "weft/conv/plan/wgmma_plan.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The parameters but for pointers.
struct GatherPlan : RingPlan {
  Im2colParams source;
  FilterParams filter;
  PixelMap pixels;
  double copy_clocks = 0.0, column_clocks = 0.0;  // gemm::WgmmaCounts'
};

// For a problem that CheckIndices has accepted. Whatever that is, there is such a plan.
GatherPlan MakeGatherPlan(const Problem& problem, const ConvFacts& facts);

// What the model asks of it.
gemm::WgmmaCounts CountsOf(const GatherPlan& plan);

}  // namespace weft::conv
