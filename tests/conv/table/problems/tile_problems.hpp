// The problems that a tile runs: few, made of the tile's own sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"

namespace weft::conv::tiles {

// Pixels, channels and k lie at and around the blocks of the tile, and its k tiles go round the ring. What a tile does
// not share with others is where its blocks end; everything else is the table of convolutions'.
std::vector<Problem> ProblemsFor(const ConvFacts& facts);

// A depthwise convolution and the channels of the 1x1 convolution behind it.
struct FusedProblem {
  Problem depthwise;  // its groups and output channels are not set
  std::int64_t k;
};
// The same for a tile of DepthwisePointwise, with each filter and stride that has a kernel.
std::vector<FusedProblem> FusedProblemsFor(const gemm::TileDescription& config);

}  // namespace weft::conv::tiles
