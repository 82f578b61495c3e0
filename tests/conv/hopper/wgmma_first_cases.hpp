// First layers, over NCxHWx<4>, through the warpgroup products of sm_90a.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/kernel/prologue_cases.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"

namespace weft::conv {
namespace {

using epilogues::BiasRelu;
using Tile2x96 = WgmmaTile<192, 64, 32, 96, 64, 2>;

// Lines that TMA loads, where widths are multiples of 4 and there are more tiles than the CPU has
// blocks: of one, two and four windows to a tile, several places and channel blocks.
TEST(WgmmaFirst, ByTma) {
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

// Every width of copies: even and odd columns of an image, windows that begin anywhere.
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

// Tiles and windows for a MaxPool: odd numbers of places, strips of one and of several tiles, rows that end anywhere;
// loaded by TMA and by threads.
template <class P>
void ExpectPools() {
  const reference::ReluActivation relu;
  for (const std::int64_t stride : {1, 2, 4}) {
    if (P::config.threadblock.m / P::config.warp.m % (4 / stride) != 0) continue;
    constexpr std::int64_t kSizes[][2] = {{1, 23}, {17, 9}, {20, 1}, {72, 40}};
    for (const auto& [w, h] : kSizes) {
      Problem p = SquareProblem(1 + h % 2, 3, h, 40 + 8 * stride, 3, 1, 1);
      p.w = w, p.stride_w = stride, p.stride_h = 1 + w % 2;
      p.pad_left = 1 + h % 2, p.pad_right = 2;
      if (!Convolution<P>::Create(p).ok()) continue;  // too few pixels for a window
      ExpectMatchesReference<P>(p, relu, {.seed = static_cast<std::uint32_t>(w + h)});
    }
  }
}
template <class Pool, class T>
using PooledRelu = epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, Pool,
                                    epilogues::ClampTo<T>>;
using epilogues::MaxPool;

TEST(WgmmaFirst, MaxPool) {
  using Unsigned = PooledRelu<MaxPool<3, 2, 1>, std::uint8_t>;
  ExpectPools<WgmmaFirstPolicy<NCxHWx<32>, Unsigned, WgmmaTile<64, 64, 32, 16, 64>>>();
  ExpectPools<WgmmaFirstPolicy<NHWC, Unsigned, WgmmaTile<64, 64, 32, 32, 64, 2, 8>>>();
  using Signed = PooledRelu<MaxPool<3, 2, 0>, std::int8_t>;
  ExpectPools<WgmmaFirstPolicy<NCxHWx<4>, Signed, WgmmaTile<96, 64, 32, 48, 64, 1, 4>>>();
  ExpectPools<WgmmaFirstPolicy<NCxHWx<32>, PooledRelu<MaxPool<3, 2, 2>, std::int8_t>,
                               WgmmaTile<32, 128, 32, 32, 128>>>();
  ExpectPools<WgmmaFirstPolicy<NCxHWx<32>, PooledRelu<MaxPool<2, 2, 1>, std::uint8_t>,
                               WgmmaTile<64, 64, 32, 16, 64>>>();
  ExpectPools<WgmmaFirstPolicy<NCHW, PooledRelu<MaxPool<2, 2>, std::int8_t>,
                               WgmmaTile<224, 64, 32, 112, 64, 1, 1>>>();
}

// Negative integers, and channels that take several tiles.
TEST(WgmmaFirst, MaxPoolOfNegativeIntegers) {
  using P = WgmmaFirstPolicy<NCxHWx<32>, PooledRelu<MaxPool<3, 2, 1>, std::int8_t>,
                             WgmmaTile<64, 64, 32, 16, 64>>;
  const Problem p = SquareProblem(3, 4, 40, 150, 7, 3, 2);
  ExpectMatchesReference<P>(p, reference::ReluActivation(), {.zero_point = -100.0f});
  using Plain =
      epilogues::Chain<epilogues::Scale, MaxPool<3, 2, 1>, epilogues::ClampTo<std::int8_t>>;
  ExpectMatchesReference<WgmmaFirstPolicy<NCxHWx<32>, Plain, WgmmaTile<64, 64, 32, 16, 64>>>(
      p, reference::NoActivation(), {.per_tensor_alpha = true, .alpha = -0.01f});
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
