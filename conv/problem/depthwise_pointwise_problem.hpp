// The shape of a depthwise convolution followed by a 1x1 (pointwise) convolution.
#pragma once

#include <cstdint>
#include <string>

#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::conv {

struct DepthwisePointwiseProblem {
  Problem
      depthwise;  // groups == c, k a multiple of c: the channels of the 1x1 convolution's source
  std::int64_t k = 1;  // the output channels of the 1x1 convolution

  // The 1x1 convolution, for a `depthwise` that CheckProblem accepts.
  constexpr Problem pointwise() const {
    Problem p;
    p.n = depthwise.n, p.h = depthwise.p(), p.w = depthwise.q();
    p.c = depthwise.k, p.k = k;
    return p;
  }
  // The extents that PackDepthwiseFilter takes.
  constexpr FilterExtents depthwise_filter() const {
    return {depthwise.k, 1, depthwise.r, depthwise.s};
  }

  // Whether there is no output.
  constexpr bool IsEmpty() const { return pointwise().IsEmpty(); }

  friend constexpr bool operator==(const DepthwisePointwiseProblem&,
                                   const DepthwisePointwiseProblem&) = default;
};

// The problem in one word, for tuning tables: the depthwise convolution's name
// (conv/problem/problem_name.hpp), then the output channels: n16c96h112w112k96r3s2p1g96+k24.
std::string ProblemName(const DepthwisePointwiseProblem& problem);

}  // namespace weft::conv
