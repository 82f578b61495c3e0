// The host's part of wgmma_sm90 convolutions over NCxHWx<4>, a first layer's. It plans which
// windows of the source a tile loads and where in shared memory each step of wgmma finds its chunks
// of k (conv/hopper/sliding_window_operands.hpp explains windows and chunks).
#pragma once

#include "weft/conv/hopper/sliding_window_operands.hpp"
#include "weft/conv/plan/multistage_plan.hpp"
#include "weft/conv/plan/wgmma_plan.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The kernel's parameters without pointers.
struct FirstLayerPlan : RingPlan {
  arch::TensorMapSpec source_spec;  // what TMA loads; rank 0: threads copy the windows instead
  SlidingWindowSource source;
  FilterParams filter;
  FilterChunks filter_chunks;
  std::int32_t strip_tiles = 1;  // tiles that a block takes one after the other, for a MaxPool
};

// The plan of a checked problem whose prologue does not depend on the output's position.
// InvalidArgument for a stride_w other than 1, 2 or 4, for a dilation_w other than 1, for windows
// and filters that do not fit in shared memory, and for filters of more chunks than
// FilterChunks::kMost.
absl::StatusOr<FirstLayerPlan> MakeFirstLayerPlan(const Problem& problem, const ConvFacts& facts);

// What the tile model needs of the plan.
gemm::WgmmaCounts CountsOf(const FirstLayerPlan& plan);

}  // namespace weft::conv
