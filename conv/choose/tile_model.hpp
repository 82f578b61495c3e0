// The model by which Dispatch chooses (gemm/choose/tile_model.hpp), for convolutions:
// ConvolutionPlanner::Predict of a problem. Depthwise kernels, alone and with a 1x1 convolution behind
// them, have a model of their own.
#pragma once

#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/choose/tile_model.hpp"

namespace weft::conv {

using gemm::CpuFacts;
using gemm::GpuFacts;
using gemm::GpuFactsOf;
using gemm::Prediction;

// `problem` is one that the tile's policy accepts.
Prediction Predict(const Problem& problem, const ConvFacts& tile, const GpuFacts& gpu);

}  // namespace weft::conv
