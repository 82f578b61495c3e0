// First layers, over NCxHWx<4>, through the warpgroup products of sm_90a.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/prologue_cases.hpp"
#include "tests/conv/wgmma_policies.hpp"

namespace weft::conv {
namespace {

using epilogues::BiasRelu;
using Tile2x96 = WgmmaTile<192, 64, 32, 96, 64, 2>;

// The first layers of networks: 7x7 and 3x3 of stride 2, and others of their kind.
template <class P>
void RunFirstLayers() {
  const reference::ReluActivation relu;
  ExpectMatchesReference<P>(SquareProblem(2, 3, 34, 64, 7, 3, 2), relu);
  ExpectMatchesReference<P>(SquareProblem(1, 4, 33, 40, 3, 1, 2), relu);
  ExpectMatchesReference<P>(SquareProblem(3, 1, 13, 64, 3, 1, 1), relu);
  ExpectMatchesReference<P>(SquareProblem(2, 8, 14, 70, 5, 2, 1), relu);
  ExpectMatchesReference<P>(SquareProblem(1, 4, 11, 32, 1, 0, 1), relu);
  ExpectMatchesReference<P>(SquareProblem(1, 7, 16, 136, 4, 0, 4), relu);
}

TEST(WgmmaFirst, Nc4ToNc32) {
  RunFirstLayers<WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, Tile2x96>>();
}

// One, two and four strips to a tile, and two column groups; more tiles than blocks.
TEST(WgmmaFirst, Tiles) {
  RunFirstLayers<WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<8, 64, 32, 8, 64, 2>>>();
  RunFirstLayers<WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<256, 64, 32, 64, 64>>>();
  RunFirstLayers<WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<48, 128, 32, 24, 64>>>();
  RunFirstLayers<WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<64, 128, 32, 64, 128>>>();
}

// Lines that the copy engine brings, where widths are multiples of 4 and there are more tiles than the CPU has
// blocks: of one, two and four strips to a tile, several places and channel blocks.
TEST(WgmmaFirst, ByTheCopyEngine) {
  using Four = WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<64, 64, 32, 16, 64>>;
  using Two = WgmmaFirstPolicy<NHWC, BiasRelu<>, WgmmaTile<16, 128, 32, 8, 64>>;
  using One = WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<16, 64, 32, 16, 64, 2>>;
  const reference::ReluActivation relu;
  for (const std::int64_t stride : {1, 2, 4}) {
    for (std::int64_t left = 0; left < 4; ++left) {
      Problem p = SquareProblem(2, 4 + 3 * left, 20, 48 + 32 * left, 3, 1, 1);
      p.w = 24 + 4 * left, p.s = 2 + left, p.pad_left = left, p.pad_right = 3;
      p.stride_w = stride, p.stride_h = 1 + left % 3, p.dilation_h = 1 + left % 2;
      p.mode = left == 2 ? Mode::kConvolution : Mode::kCrossCorrelation;
      ExpectMatchesReference<Four>(p, relu);
      ExpectMatchesReference<Two>(p, relu);
      ExpectMatchesReference<One>(p, relu);
    }
  }
}

TEST(WgmmaFirst, OtherDestinations) {
  RunFirstLayers<WgmmaFirstPolicy<NCxHWx<4>, BiasRelu<>, WgmmaTile<64, 64, 32, 32, 64, 2, 4>>>();
  RunFirstLayers<WgmmaFirstPolicy<NHWC, BiasRelu<>, WgmmaTile<64, 64, 32, 64, 64, 1, 2>>>();
  RunFirstLayers<WgmmaFirstPolicy<NCHW, BiasRelu<>, WgmmaTile<32, 64, 32, 16, 64, 2, 1>>>();
}

// Every width of copies: even and odd columns of an image, strips that begin anywhere.
TEST(WgmmaFirst, Geometries) {
  using P = WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<64, 64, 32, 32, 64>>;
  const reference::ReluActivation relu;
  for (const std::int64_t stride : {1, 2, 4}) {
    for (std::int64_t left = 0; left < 5; ++left) {
      for (std::int64_t w = 16; w < 20; ++w) {
        Problem p = SquareProblem(2, 3, 12, 36, 3, 1, 1);
        p.w = w, p.s = 1 + left, p.stride_w = stride, p.pad_left = left, p.pad_right = 4 - left;
        p.stride_h = 1 + left % 3, p.dilation_h = 1 + w % 2, p.pad_bottom = left % 2;
        p.mode = w % 4 < 2 ? Mode::kConvolution : Mode::kCrossCorrelation;
        ExpectMatchesReference<P>(p, relu);
      }
    }
  }
  Problem tall = SquareProblem(1, 9, 40, 33, 9, 4, 1);  // 27 chunks of 3 blocks each
  tall.r = 3, tall.s = 11, tall.w = 31;
  ExpectMatchesReference<P>(tall, relu);
  tall.w = 7, tall.pad_top = 30;  // tiles that are all padding
  ExpectMatchesReference<P>(tall, relu);
}

TEST(WgmmaFirst, RandomProblems) {
  using P = WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<64, 64, 32, 32, 64, 2>>;
  std::mt19937 engine(7);
  int ran = 0;
  for (int i = 0; i < 60; ++i) {
    Problem p = RandomProblem(engine);
    p.c = 1 + static_cast<std::int64_t>(engine() % 16);
    p.dilation_w = 1;
    p.stride_w = std::int64_t{1} << engine() % 3;
    if (!Convolution<P>::Create(p).ok()) continue;  // a window wider than the image
    ExpectMatchesReference<P>(p, reference::ReluActivation{},
                              {.seed = static_cast<std::uint32_t>(engine())});
    if (testing::Test::HasFailure()) return;
    ++ran;
  }
  EXPECT_GT(ran, 40);
}

TEST(WgmmaFirst, Epilogues) {
  using namespace epilogues;  // NOLINT: a test of them
  using TileT = WgmmaTile<64, 64, 32, 32, 64>;
  using Words = WgmmaTile<64, 64, 32, 32, 64, 1, 4>;
  const Problem p = SquareProblem(2, 3, 23, 75, 7, 3, 2);
  const reference::ReluActivation relu;
  const reference::NoActivation none;
  ExpectMatchesReference<WgmmaFirstPolicy<NCxHWx<32>, BiasHSwish<>, TileT>>(
      p, reference::HSwishActivation{}, {.zero_point = 3.0f});
  ExpectMatchesReference<WgmmaFirstPolicy<NCxHWx<32>, ResidualBiasRelu<>, TileT>>(p, relu,
                                                                                  {.gamma = 0.7f});
  ExpectMatchesReference<WgmmaFirstPolicy<NCxHWx<4>, ResidualBiasRelu<>, Words>>(p, relu,
                                                                                 {.gamma = 0.7f});
  ExpectMatchesReference<WgmmaFirstPolicy<NCHW, Chain<Scale, Bias<>, ToFloat>, Words>>(p, none);
  ExpectMatchesReference<WgmmaFirstPolicy<NCxHWx<32>, Chain<SumBias, ToAccumulator>, TileT>>(p,
                                                                                             none);
}

// Filters that change from tile to tile.
template <class P>
class WgmmaFirstPrologues : public testing::Test {};
using FirstPrologues = testing::Types<
    WgmmaFirstPrologue<prologues::PerSample, NCxHWx<32>, WgmmaTile<64, 64, 32, 32, 64, 2>>,
    WgmmaFirstPrologue<prologues::Grouped, NCxHWx<32>, WgmmaTile<32, 64, 32, 32, 64, 2>>,
    WgmmaFirstPrologue<FromBank, NHWC, WgmmaTile<32, 64, 32, 32, 64, 2, 4>>>;
TYPED_TEST_SUITE(WgmmaFirstPrologues, FirstPrologues);

TYPED_TEST(WgmmaFirstPrologues, Filters) {
  constexpr prologues::Depends kDepends = TypeParam::Prologue::kDepends;
  for (const std::int64_t r : {3, 7}) {
    Problem p = SquareProblem(3, 8, r == 3 ? 22 : 24, 192, r, r / 2, 2);
    if (kDepends.group) p.groups = 2;
    ExpectMatchesReference<TypeParam>(p, reference::ReluActivation{});
  }
}

}  // namespace
}  // namespace weft::conv
