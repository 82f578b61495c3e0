// The tile model (gemm/choose/tile_model.hpp) of depthwise kernels. That of a depthwise convolution
// with the 1x1 convolution behind it is DepthwisePointwisePlanner::Predict.
#pragma once

#include "weft/conv/depthwise/depthwise_plan.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/gemm/choose/tile_model.hpp"

namespace weft::conv {

// Of a depthwise kernel (conv/depthwise/depthwise.hpp). counts: with the bytes.
gemm::Prediction PredictDepthwise(const DepthwiseWork& work, const gemm::PlanCounts& counts,
                                  const ConvFacts& facts, const gemm::GpuFacts& gpu);

}  // namespace weft::conv
