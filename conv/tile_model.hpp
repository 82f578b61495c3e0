// The model by which Dispatch chooses (gemm/tile_model.hpp), for convolutions.
#pragma once

#include "weft/conv/problem.hpp"
#include "weft/gemm/tile_model.hpp"

namespace weft::conv {

using gemm::CpuFacts;
using gemm::GpuFacts;
using gemm::GpuFactsOf;
using gemm::Prediction;
using gemm::TileFacts;

// `problem` is one that the tile's policy accepts.
Prediction Predict(const Problem& problem, const TileFacts& tile, const GpuFacts& gpu);

}  // namespace weft::conv
