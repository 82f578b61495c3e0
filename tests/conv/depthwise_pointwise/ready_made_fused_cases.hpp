// The ready-made families of DepthwisePointwise through Dispatch, against the reference of their two halves.
#pragma once

#include "tests/conv/depthwise_pointwise/depthwise_pointwise_checks.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/ready_made_operators.hpp"

namespace weft::conv {

// P with the activations of the reference.
template <class P>
struct Tested : P {
  using FirstActivation = ReluActivation;
  using SecondActivation = NoActivation;
};

namespace {

// P: a policy of the family that Op chooses among. more: for Create.
template <class P, class Op, class... More>
void RunChoices(const More&... more) {
  for (const std::int64_t stride : {1, 2}) {
    ExpectFused<Tested<P>, Op>(SquareProblem(2, 36, 9, 40, 3, 1, stride), {}, more...);
    ExpectFused<Tested<P>, Op>(SquareProblem(1, 72, 10, 24, 5, 2, stride), {}, more...);
  }
}

// For the GPU at hand, or for the CPU.
TEST(ReadyMadeFused, Choices) {
  RunChoices<S8DepthwisePointwise32<>, Dispatch<S8DepthwisePointwise32Family<>>>();
}

}  // namespace
}  // namespace weft::conv
