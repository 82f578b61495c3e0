// The host's part of wgmma_sm90 convolutions over NCxHWx<4>: which strips of the source a tile needs
// and where the products find their chunks (conv/hopper/sliding_window_operands.hpp).
#pragma once

#include <cstdint>

#include "weft/conv/hopper/sliding_window_operands.hpp"
#include "weft/conv/plan/multistage_plan.hpp"
#include "weft/conv/plan/wgmma_plan.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The parameters but for pointers.
struct StripPlan : RingPlan {
  arch::TensorMapSpec source_spec;  // of what TMA loads; of no rank: threads copy the strips
  SlidingWindowSource source;
  FilterParams filter;
  FilterChunks filter_chunks;
};

// For a checked problem whose prologue does not depend on the output's position. InvalidArgument for
// strides other than 1, 2 and 4 and dilations other than 1 along a row, and for filters whose strips
// do not fit in shared memory or which have more chunks than a plan has room for.
absl::StatusOr<StripPlan> MakeSlidingWindowPlan(const Problem& problem, const ConvFacts& facts);

// What the model asks of it.
gemm::WgmmaCounts CountsOf(const StripPlan& plan);

}  // namespace weft::conv
