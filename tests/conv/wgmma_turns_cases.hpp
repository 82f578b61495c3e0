// Convolutions through the warpgroup products of sm_90a whose sets of warpgroups take tiles in turn.
#pragma once

#include <cstdint>

#include "tests/conv/harness.hpp"
#include "tests/conv/run_random.hpp"
#include "tests/conv/wgmma_policies.hpp"
#include "tests/conv/zero_point_cases.hpp"
#include "tests/conv/zero_point_policies.hpp"

namespace weft::conv {
namespace {

using epilogues::BiasRelu;
using epilogues::Chain;
using epilogues::Scale;
using epilogues::ToFloat;

// One tile, two, and more than blocks (three on the CPU), odd and even numbers of them; slices by taps and
// by patches, one and several; filters that stay and others.
template <class P>
void RunTurns() {
  const reference::ReluActivation relu;
  for (const std::int64_t n : {1, 2, 7}) {
    ExpectMatchesReference<P>(SquareProblem(n, 32, 5, 64, 3, 1, 1), relu);
    ExpectMatchesReference<P>(SquareProblem(n, 96, 8, 48, 1, 0, 1), relu);
  }
  ExpectMatchesReference<P>(SquareProblem(2, 160, 11, 208, 3, 1, 2), relu);
  ExpectMatchesReference<P>(SquareProblem(3, 512, 7, 80, 1, 0, 1), relu);
  Problem wide = SquareProblem(1, 64, 17, 32, 3, 2, 1);
  wide.dilation_h = wide.dilation_w = 2;
  wide.s = 2;
  ExpectMatchesReference<P>(wide, relu);
}

TEST(WgmmaTurns, Nc32) {
  RunTurns<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Turns<WgmmaTile<64, 64, 64, 64, 64>>>>();
  RunTurns<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Turns<WgmmaTile<32, 128, 128, 32, 128, 2>>>>();
}

// Two warpgroups to a set.
TEST(WgmmaTurns, SetsOfTwo) {
  RunTurns<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Turns<WgmmaTile<64, 64, 64, 32, 64>>>>();
  RunTurns<WgmmaNhwcPolicy<NHWC, BiasRelu<>, Turns<WgmmaTile<48, 128, 128, 48, 64>>>>();
}

// Each tile holds two output rows, too.
TEST(WgmmaTurns, Stacked) {
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Turns<Stacked<WgmmaTile<32, 64, 64, 32, 64>>>>;
  for (const std::int64_t n : {1, 2, 7}) {
    ExpectMatchesReference<P>(SquareProblem(n, 96, 13, 32, 3, 1, 1), reference::ReluActivation());
  }
}

TEST(WgmmaTurns, Nhwc) {
  RunTurns<WgmmaNhwcPolicy<NHWC, BiasRelu<>, Turns<WgmmaTile<128, 128, 128, 128, 128>>>>();
  RunTurns<WgmmaNhwcPolicy<NCxHWx<32>, BiasRelu<>, Turns<WgmmaTile<24, 64, 32, 24, 64, 2>>>>();
}

TEST(WgmmaTurns, Epilogues) {
  using TileT = Turns<WgmmaTile<32, 64, 64, 32, 64>>;
  const Problem p = SquareProblem(5, 64, 9, 96, 3, 1, 1);
  const reference::ReluActivation relu;
  const reference::NoActivation none;
  ExpectMatchesReference<WgmmaPolicy<NCxHWx<32>, epilogues::BiasHSwish<>, TileT>>(
      p, reference::HSwishActivation{}, {.zero_point = 3.0f});
  ExpectMatchesReference<WgmmaPolicy<NCxHWx<32>, epilogues::ResidualBiasRelu<>, TileT>>(
      p, relu, {.gamma = 0.7f});
  using Words = Turns<WgmmaTile<32, 64, 64, 32, 64, 1, 4>>;
  ExpectMatchesReference<WgmmaPolicy<NCHW, Chain<Scale, epilogues::Bias<>, ToFloat>, Words>>(p,
                                                                                             none);
}

// A warp writes padding into slices, too.
TEST(WgmmaTurns, SourceZeroPoint) {
  RunBorders<ZeroTurns>();
  RunAsymmetric<ZeroTurns>(10, 1);
}
TEST(WgmmaTurns, FilterZeroPoint) {
  RunAsymmetric<ZeroFilterTurns>(12, 1, 1, 4);
}

}  // namespace
}  // namespace weft::conv
