// The tile model (gemm/choose/tile_model.hpp) of depthwise kernels.
#pragma once

#include "weft/conv/depthwise/depthwise_plan.hpp"
#include "weft/conv/depthwise_pointwise/depthwise_pointwise_plan.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/gemm/choose/tile_model.hpp"

namespace weft::conv {

// Of a depthwise kernel (conv/depthwise/depthwise.hpp). counts: with the bytes.
Prediction PredictDepthwise(const DepthwiseWork& work, const PlanCounts& counts,
                            const ConvFacts& facts, const GpuFacts& gpu);

// Of one with the 1x1 convolution behind it
// (conv/depthwise_pointwise/depthwise_pointwise_kernel.hpp).
Prediction PredictDepthwisePointwise(const DepthwisePointwisePlan& plan,
                                     const DepthwisePointwiseFacts& facts, const GpuFacts& gpu);
Prediction PredictDepthwisePointwise(const DepthwisePointwisePlan& plan,
                                     const DepthwisePointwiseFacts& facts, const CpuFacts& cpu);

}  // namespace weft::conv
