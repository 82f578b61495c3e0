// The host's part of wgmma_sm90 convolutions whose operands threads load (conv/gathered_operands.hpp).
#pragma once

#include "weft/conv/wgmma_plan.hpp"
#include "weft/layouts/abseil.hpp"

namespace weft::conv {

// The ring, the steps and the counts of a checked problem; the walks over source and filter are Geometry's im2col
// and filter. Whatever the problem, there is such a plan.
absl::StatusOr<EnginePlan> MakeGatherPlan(const Problem& problem, const ConvFacts& facts);

}  // namespace weft::conv
