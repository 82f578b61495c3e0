// Shapes: chosen corner cases, real layers, and every tile shape over random problems.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/policies.hpp"

namespace weft::conv {
namespace {

using Small = TestPolicy<NCxHWx<4>, epilogues::BiasRelu<>>;

void RunSmall(const Problem& p, std::uint32_t seed = 1) {
  ExpectMatchesReference<Small>(p, reference::ReluActivation{}, {.seed = seed});
}

TEST(ConvolutionProblems, OneOfEverything) {
  RunSmall(SquareProblem(1, 1, 1, 1, 1, 0, 1));
}

TEST(ConvolutionProblems, ThreeInputAndTenOutputChannels) {
  RunSmall(SquareProblem(2, 3, 8, 10, 3, 1, 1));
}

TEST(ConvolutionProblems, FirstLayer) {
  RunSmall(SquareProblem(1, 3, 32, 64, 7, 3, 2));
}

TEST(ConvolutionProblems, SmallK) {
  Problem p = SquareProblem(1, 16, 23, 8, 3, 1, 1);
  p.w = 40;
  RunSmall(p);
}

TEST(ConvolutionProblems, Pointwise) {
  RunSmall(SquareProblem(2, 64, 7, 40, 1, 0, 1));
  RunSmall(SquareProblem(1, 5, 9, 33, 1, 0, 1));
}

TEST(ConvolutionProblems, PointwiseStrided) {
  RunSmall(SquareProblem(2, 12, 9, 20, 1, 0, 2));
}

TEST(ConvolutionProblems, PointwiseWithPadding) {
  RunSmall(SquareProblem(2, 12, 5, 20, 1, 1, 1));
}

TEST(ConvolutionProblems, AsymmetricPadding) {
  Problem p = SquareProblem(1, 6, 6, 9, 3, 0, 1);
  p.pad_top = 2, p.pad_left = 0, p.pad_bottom = 1, p.pad_right = 3;
  RunSmall(p);
}

// Padding beyond the filter: whole outputs that see no input.
TEST(ConvolutionProblems, PaddingLargerThanFilter) {
  RunSmall(SquareProblem(1, 4, 3, 5, 2, 4, 1));
}

TEST(ConvolutionProblems, StrideLargerThanFilter) {
  RunSmall(SquareProblem(1, 7, 11, 6, 2, 0, 4));
}

TEST(ConvolutionProblems, Dilation) {
  Problem p = SquareProblem(2, 9, 12, 13, 3, 2, 1);
  p.dilation_h = 2, p.dilation_w = 3;
  RunSmall(p);
}

TEST(ConvolutionProblems, TrueConvolution) {
  Problem p = SquareProblem(1, 5, 9, 7, 3, 1, 2);
  p.r = 4, p.dilation_w = 2;
  p.mode = Mode::kConvolution;
  RunSmall(p);
}

TEST(ConvolutionProblems, OneDimensional) {
  Problem p;
  p.n = 2, p.h = 1, p.w = 50, p.c = 8, p.k = 12, p.r = 1, p.s = 9, p.pad_left = p.pad_right = 4;
  RunSmall(p);
}

TEST(ConvolutionProblems, FilterAsLargeAsTheImage) {
  RunSmall(SquareProblem(3, 8, 7, 16, 7, 0, 1));
}

TEST(ConvolutionProblems, ManySlices) {
  RunSmall(SquareProblem(1, 300, 4, 9, 3, 1, 1));
}

template <class P>
void RunRandomProblems(int count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  for (int i = 0; i < count; ++i) {
    const Problem problem = RandomProblem(engine);
    ExpectMatchesReference<P>(problem, reference::ReluActivation{},
                              {.seed = static_cast<std::uint32_t>(engine())});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ConvolutionProblems, Random) {
  RunRandomProblems<Small>(150, 11);
}

template <class TileT>
using Tiled = TestPolicy<NCxHWx<4>, epilogues::BiasRelu<>, TileT>;

TEST(ConvolutionTiles, T128x128) {
  using P = Tiled<Tile<128, 128, 32, 64, 32, 8, 8>>;
  RunRandomProblems<P>(20, 21);
  ExpectMatchesReference<P>(SquareProblem(2, 32, 14, 150, 3, 1, 1), reference::ReluActivation{});
}

// More output pixels in a tile than threads in a block.
TEST(ConvolutionTiles, T128x32) {
  using P = Tiled<Tile<128, 32, 32, 64, 32, 8, 8>>;
  RunRandomProblems<P>(20, 22);
  ExpectMatchesReference<P>(SquareProblem(2, 32, 14, 50, 3, 1, 1), reference::ReluActivation{});
}

TEST(ConvolutionTiles, T64x64) {
  using P = Tiled<Tile<64, 64, 32, 32, 32, 4, 8>>;
  RunRandomProblems<P>(20, 23);
}

TEST(ConvolutionTiles, T64x128NarrowSlices) {
  using P = Tiled<Tile<64, 128, 16, 32, 64, 8, 8>>;
  RunRandomProblems<P>(20, 24);
}

// Two pixels a thread: the narrowest vectors.
TEST(ConvolutionTiles, T16x64Deep) {
  using P = Tiled<Tile<16, 64, 64, 16, 32, 2, 8>>;
  RunRandomProblems<P>(20, 25);
}

// Warps that share a tile and each multiply a part of the slice.
TEST(ConvolutionTiles, SlicedK) {
  using P = Tiled<Tile<32, 32, 128, 32, 16, 4, 4, 4, 32>>;
  RunRandomProblems<P>(30, 26);
  ExpectMatchesReference<P>(SquareProblem(1, 100, 7, 40, 3, 1, 1), reference::ReluActivation{});
  ExpectMatchesReference<P>(SquareProblem(1, 300, 7, 40, 1, 0, 1), reference::ReluActivation{});
}

TEST(ConvolutionTiles, SlicedKLargePartials) {
  using P = Tiled<Tile<64, 64, 64, 32, 32, 4, 8, 4, 16>>;
  RunRandomProblems<P>(20, 27);
}

}  // namespace
}  // namespace weft::conv
