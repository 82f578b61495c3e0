// wgmma_sm90 over NHWC whose channels are a multiple of 8 and not of 16, so that threads load both operands;
// and stores of 8 channels. Shared by both back ends.
#pragma once

#include <gtest/gtest.h>

#include "tests/conv/harness.hpp"
#include "tests/conv/own_relu.hpp"
#include "weft/conv/problem/problem_name.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

using GatherRelu = OwnRelu;
using Gather64x64 = S8ConvNhwc<GatherRelu, NHWC, Wgmma64x64, 8, 8>;
using Gather128x64PingPong = S8ConvNhwc<GatherRelu, NHWC, Wgmma128x64PingPong, 8, 8>;

// Channels on both sides of a product's 32 bytes and of a k tile's 128, rows on both sides of a tile, k tiles
// whose pieces come of several taps, and every stride, dilation and padding.
std::vector<Problem> GatheredProblems() {
  std::vector<Problem> all;
  for (const std::int64_t c : {8, 24, 40, 72, 120, 136}) {
    all.push_back(SquareProblem(1, c, 9, 40, 1, 0, 1));
    all.push_back(SquareProblem(2, c, 7, 72, 3, 1, 1));
  }
  all.push_back(SquareProblem(3, 24, 8, 8, 3, 1, 2));
  all.push_back(SquareProblem(1, 56, 6, 24, 5, 2, 1));
  all.push_back(SquareProblem(1, 16, 8, 24, 2, 0, 1));
  Problem uneven = SquareProblem(2, 40, 9, 64, 3, 1, 1);
  uneven.w = 5, uneven.s = 2, uneven.dilation_h = 2, uneven.pad_left = 0, uneven.pad_bottom = 3;
  all.push_back(uneven);
  uneven.mode = Mode::kConvolution;
  all.push_back(uneven);
  // Taps far apart, the middle one of which sees the image.
  Problem apart = SquareProblem(1, 24, 3, 16, 3, 0, 1);
  apart.s = 1, apart.dilation_h = apart.pad_top = apart.pad_bottom = std::int64_t{1} << 18;
  all.push_back(apart);
  return all;
}

TEST(Gathered, EveryShapeIsExact) {
  std::uint32_t seed = 1;
  for (const Problem& problem : GatheredProblems()) {
    SCOPED_TRACE(ProblemName(problem));
    ExpectMatchesReference<Gather64x64>(problem, reference::ReluActivation{}, {.seed = seed});
    ExpectMatchesReference<Gather128x64PingPong>(problem, reference::ReluActivation{},
                                                 {.seed = seed});
    ++seed;
  }
}

}  // namespace
}  // namespace weft::conv
