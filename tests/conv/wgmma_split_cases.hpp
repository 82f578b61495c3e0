// Convolutions through the warpgroup products of sm_90a whose blocks share the slices of a tile.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/prologue_cases.hpp"
#include "tests/conv/run_random.hpp"
#include "tests/conv/wgmma_policies.hpp"

namespace weft::conv {

namespace {

using epilogues::BiasRelu;

// 3x3 and 1x1; shapes that fill no tile; fewer slices than blocks of a cluster, as many, and a number
// that they do not divide; one tile, and more than there are clusters.
template <class P>
void RunSplit() {
  const reference::ReluActivation relu;
  ExpectMatchesReference<P>(SquareProblem(1, 32, 5, 64, 1, 0, 1), relu);
  ExpectMatchesReference<P>(SquareProblem(1, 128, 7, 64, 3, 1, 1), relu);
  ExpectMatchesReference<P>(SquareProblem(2, 224, 7, 80, 3, 1, 1), relu);
  ExpectMatchesReference<P>(SquareProblem(3, 64, 13, 144, 3, 1, 2), relu);
  ExpectMatchesReference<P>(SquareProblem(1, 384, 9, 144, 1, 0, 1), relu);
}

TEST(WgmmaSplit, ByTwo) {
  RunSplit<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Split<WgmmaTile<64, 128, 64, 64, 64>, 2>>>();
  RunSplit<WgmmaNhwcPolicy<NHWC, BiasRelu<>, Split<WgmmaTile<48, 64, 128, 48, 64, 2>, 2>>>();
}

TEST(WgmmaSplit, ByFour) {
  RunSplit<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Split<WgmmaTile<64, 64, 128, 64, 64>, 4>>>();
  RunSplit<WgmmaNhwcPolicy<NCxHWx<32>, BiasRelu<>, Split<WgmmaTile<96, 64, 64, 96, 64>, 4>>>();
  RunRandom<WgmmaPolicy<NHWC, BiasRelu<>, Split<WgmmaTile<64, 128, 32, 32, 128, 1, 4>, 4>>>(6, 50,
                                                                                            1, 4);
}

TEST(WgmmaSplit, ByEight) {
  RunSplit<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Split<WgmmaTile<64, 64, 32, 64, 64>, 8>>>();
  RunSplit<WgmmaNhwcPolicy<NHWC, BiasRelu<>, Split<WgmmaTile<128, 64, 64, 64, 64, 2>, 8>>>();
}

TEST(WgmmaSplit, Random) {
  using Tile = WgmmaTile<32, 64, 64, 32, 64, 2, 4>;
  RunRandom<WgmmaPolicy<NCxHWx<4>, BiasRelu<>, Split<Tile, 2>>>(10, 51);
  RunRandom<WgmmaNhwcPolicy<NHWC, BiasRelu<>, Split<Tile, 4>>>(10, 52, 16, 4);
}

TEST(WgmmaSplit, Epilogues) {
  using namespace epilogues;  // NOLINT: a test of them
  using Tile = WgmmaTile<128, 64, 64, 64, 64>;
  using Narrow = WgmmaTile<64, 64, 64, 32, 64, 1, 4>;
  Problem p = SquareProblem(2, 200, 7, 75, 3, 1, 1);
  p.pad_right = 2;
  const reference::ReluActivation relu;
  const reference::NoActivation none;
  ExpectMatchesReference<WgmmaPolicy<NCxHWx<32>, ResidualBiasRelu<>, Split<Tile, 4>>>(
      p, relu, {.gamma = 0.7f});
  ExpectMatchesReference<WgmmaPolicy<NCxHWx<4>, ResidualBiasRelu<>, Split<Narrow, 2>>>(
      p, relu, {.gamma = 0.7f});
  ExpectMatchesReference<WgmmaPolicy<NHWC, Chain<SumBias, Scale, Relu, ClampTo<std::uint8_t>>,
                                     Split<WgmmaTile<64, 64, 64, 32, 64, 1, 1>, 4>>>(
      p, relu, {.zero_point = 3.0f});
  ExpectMatchesReference<WgmmaPolicy<NCHW, Chain<Scale, Bias<>, ToFloat>, Split<Narrow, 4>>>(p,
                                                                                             none);
  ExpectMatchesReference<WgmmaPolicy<NCxHWx<32>, Chain<SumBias, ToAccumulator>, Split<Tile, 8>>>(
      p, none);
}

template <class P>
class WgmmaSplitPrologues : public testing::Test {};
using SplitProloguePolicies =
    testing::Types<WgmmaPrologue<prologues::PerSample, NCxHWx<32>, Split<SmallTile64, 2>>,
                   WgmmaNhwcPrologue<prologues::Grouped, NHWC, Split<SmallTile64, 4>>>;
TYPED_TEST_SUITE(WgmmaSplitPrologues, SplitProloguePolicies);

TYPED_TEST(WgmmaSplitPrologues, Corners) {
  RunPrologueCorners<TypeParam>(reference::ReluActivation{});
}

}  // namespace
}  // namespace weft::conv
