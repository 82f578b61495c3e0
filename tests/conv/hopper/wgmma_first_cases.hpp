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
