// Convolutions through the warpgroup products of sm_90a, over NCxHWx<32> and NHWC.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/prologue_cases.hpp"
#include "tests/conv/run_random.hpp"
#include "tests/conv/wgmma_policies.hpp"

namespace weft::conv {

namespace {

using epilogues::BiasRelu;

TEST(WgmmaSm90, Nc32ToNc32) {
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, SmallTile64>;
  const reference::ReluActivation relu;
  ExpectMatchesReference<P>(SquareProblem(1, 32, 8, 64, 1, 0, 1), relu);
  ExpectMatchesReference<P>(SquareProblem(2, 70, 9, 100, 1, 0, 2), relu);
  RunRandom<P>(40, 1);
}

TEST(WgmmaSm90, Nc32ToNc4) {
  RunRandom<WgmmaPolicy<NCxHWx<4>, BiasRelu<>, WgmmaTile<24, 64, 32, 24, 64, 2, 4>>>(30, 2);
}

TEST(WgmmaSm90, Nc32ToNhwc) {
  RunRandom<WgmmaPolicy<NHWC, BiasRelu<>, WgmmaTile<64, 128, 96, 32, 128, 1, 4>>>(30, 3, 1, 4);
}

TEST(WgmmaSm90, Nc32ToNchw) {
  RunRandom<WgmmaPolicy<NCHW, BiasRelu<>, WgmmaTile<8, 64, 64, 8, 64, 2, 1>>>(20, 4);
}

TEST(WgmmaSm90, NhwcToNhwc) {
  RunRandom<WgmmaNhwcPolicy<NHWC, BiasRelu<>, WgmmaTile<48, 64, 128, 48, 64>>>(40, 5, 16, 16);
}

TEST(WgmmaSm90, NhwcToNc32) {
  RunRandom<WgmmaNhwcPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<128, 128, 256, 64, 64>>>(30, 6, 16);
}

// Two and four warpgroups to a tile, split along the pixels, along the channels and both ways; the
// tiles that networks want.
TEST(WgmmaSm90, LargeTiles) {
  const reference::ReluActivation relu;
  const auto run = [&]<class TileT>() {
    using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, TileT>;
    ExpectMatchesReference<P>(SquareProblem(3, 64, 14, 150, 3, 1, 1), relu);
    ExpectMatchesReference<P>(SquareProblem(1, 200, 19, 270, 1, 0, 2), relu);
    ExpectMatchesReference<P>(SquareProblem(2, 96, 15, 130, 3, 1, 2), relu);
  };
  run.template operator()<WgmmaTile<224, 128, 128, 224, 64>>();
  run.template operator()<WgmmaTile<128, 256, 128, 128, 128>>();
  run.template operator()<WgmmaTile<192, 128, 64, 96, 64>>();
  run.template operator()<WgmmaTile<64, 192, 64, 64, 192>>();
  run.template operator()<WgmmaTile<128, 64, 64, 64, 64, 2>>();
}

// As many taps as a slice can have steps, more, and a whole dilated row.
TEST(WgmmaSm90, LargeFilters) {
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, SmallTile64>;
  const reference::ReluActivation relu;
  ExpectMatchesReference<P>(SquareProblem(2, 40, 9, 20, 7, 3, 2), relu);
  ExpectMatchesReference<P>(SquareProblem(2, 40, 9, 20, 7, 3, 1), relu);
  Problem p = SquareProblem(1, 70, 12, 33, 8, 4, 1);
  ExpectMatchesReference<P>(p, relu);
  p.s = 9, p.dilation_h = 2, p.pad_top = 5;
  p.mode = Mode::kConvolution;
  ExpectMatchesReference<P>(p, relu);
  Problem row = SquareProblem(2, 32, 3, 64, 1, 0, 1);
  row.w = 300, row.s = 4, row.dilation_w = 40, row.pad_left = 7;
  ExpectMatchesReference<P>(row, relu);
}

// Patches whose rows and images share their padding, and paddings that differ from side to side.
TEST(WgmmaSm90, Patches) {
  const reference::ReluActivation relu;
  const auto run = [&]<class P>() {
    for (std::int64_t top = 0; top < 3; ++top) {
      for (std::int64_t left = 0; left < 3; ++left) {
        Problem p = SquareProblem(3, 48, 7, 64, 3, 1, 1);
        p.w = 11, p.s = 2 + left % 2;
        p.pad_top = top, p.pad_left = left, p.pad_bottom = 2 - top;
        ExpectMatchesReference<P>(p, relu);
        p.mode = Mode::kConvolution;
        p.dilation_w = 2;
        ExpectMatchesReference<P>(p, relu);
      }
    }
  };
  run.template operator()<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, SmallTile64>>();
  run.template operator()<WgmmaNhwcPolicy<NHWC, BiasRelu<>, SmallTile64>>();
}

TEST(WgmmaSm90, Epilogues) {
  using namespace epilogues;  // NOLINT: a test of them
  Problem p = SquareProblem(2, 40, 7, 75, 3, 1, 1);
  p.pad_right = 2;
  const reference::ReluActivation relu;
  const reference::NoActivation none;
  ExpectMatchesReference<WithEpilogue<BiasIdentity<>>>(p, none);
  ExpectMatchesReference<WithEpilogue<BiasRelu<std::int32_t>>>(p, relu, {.beta = 0.37f});
  ExpectMatchesReference<WithEpilogue<BiasHSwish<>>>(p, reference::HSwishActivation{});
  ExpectMatchesReference<WithEpilogue<ResidualBiasRelu<>>>(p, relu, {.gamma = 0.7f});
  ExpectMatchesReference<WithEpilogue<ResidualBiasRelu<>, NCxHWx<4>, 4>>(p, relu, {.gamma = 0.7f});
  using FromNhwc = Chain<Residual<std::int8_t, NHWC>, Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  ExpectMatchesReference<WithEpilogue<FromNhwc>>(p, relu, {.gamma = 0.7f});
  ExpectMatchesReference<WithEpilogue<Chain<SumBias, Scale, Relu, ClampTo<std::uint8_t>>>>(
      p, relu, {.zero_point = 3.0f});
  ExpectMatchesReference<WithEpilogue<Chain<Scale, Bias<>, ToFloat>, NCHW, 4>>(p, none);
  ExpectMatchesReference<WithEpilogue<Chain<Scale, Bias<>, ToFloat>, NHWC, 4>>(p, none);
  ExpectMatchesReference<WithEpilogue<Chain<SumBias, ToAccumulator>, NCxHWx<32>>>(p, none);
}

template <class P>
class WgmmaPrologues : public testing::Test {};
using ProloguePolicies = testing::Types<
    WgmmaPrologue<prologues::PerSample, NCxHWx<32>, SmallTile64>,
    WgmmaPrologue<prologues::Grouped, NCxHWx<32>, SmallTile64>,
    WgmmaPrologue<FromBank, NHWC, WgmmaTile<32, 64, 64, 32, 64, 2, 4>>,
    WgmmaNhwcPrologue<prologues::Grouped, NHWC, SmallTile64>,
    WgmmaNhwcPrologue<prologues::PerSample, NCxHWx<4>, WgmmaTile<32, 64, 64, 32, 64, 2, 4>>>;
TYPED_TEST_SUITE(WgmmaPrologues, ProloguePolicies);

TYPED_TEST(WgmmaPrologues, Corners) {
  RunPrologueCorners<TypeParam>(reference::ReluActivation{});
}

TYPED_TEST(WgmmaPrologues, Random) {
  RunRandomPrologue<TypeParam>(8, 41, reference::ReluActivation{});
}

}  // namespace
}  // namespace weft::conv
