// Tensor-core convolutions over NCxHWx<32>.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/nc32_policies.hpp"
#include "tests/conv/run_random.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {

// NHWC with loads of kSrcBytes.
template <class Dst, class EpilogueT, class TileT, int kSrcBytes = 16>
struct NhwcPolicy {
  using Element = std::int8_t;
  using SrcLayout = NHWC;
  using FilterLayout = KRSC;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr auto config = WithSrcAlignment(TileT::config, kSrcBytes);
};

namespace {

using epilogues::BiasRelu;

TEST(MmaSm80, Nc32ToNc32) {
  RunRandom<Nc32Policy<NCxHWx<32>, BiasRelu<>, MmaSm80Tile<64, 64, 64, 32, 32, 3>>>(40, 1);
}

TEST(MmaSm80, Nc32ToNc4) {
  RunRandom<Nc32Policy<NCxHWx<4>, BiasRelu<>, MmaSm80Tile<64, 32, 32, 32, 32, 4, 4>>>(30, 2);
}

TEST(MmaSm80, Nc32ToNhwc) {
  RunRandom<Nc32Policy<NHWC, BiasRelu<>, MmaSm80Tile<32, 64, 64, 32, 32, 3, 1>>>(30, 3);
}

TEST(MmaSm80, LargeTile) {
  using P = Nc32Policy<NCxHWx<32>, BiasRelu<>, MmaSm80Tile<128, 128, 64, 64, 32, 3>>;
  RunRandom<P>(15, 4);
  ExpectMatchesReference<P>(SquareProblem(2, 64, 14, 150, 3, 1, 1), reference::ReluActivation{});
  ExpectMatchesReference<P>(SquareProblem(1, 200, 9, 70, 1, 0, 2), reference::ReluActivation{});
}

// Filters with more taps than ActivationParams::kTableTaps, and with just as many; the last one is
// flipped.
TEST(MmaSm80, LargeFilters) {
  using P = Nc32Policy<NCxHWx<32>, BiasRelu<>, MmaSm80Tile<64, 64, 64, 32, 32, 3>>;
  const reference::ReluActivation relu;
  ExpectMatchesReference<P>(SquareProblem(2, 40, 9, 20, 7, 3, 2), relu);
  Problem p = SquareProblem(1, 70, 8, 33, 4, 2, 1);
  p.s = 8, p.pad_left = 4;
  ExpectMatchesReference<P>(p, relu);
  p.s = 9, p.dilation_h = 2;
  p.mode = Mode::kConvolution;
  ExpectMatchesReference<P>(p, relu);
}

// More threads than the tile has halves of rows: they share out the packets of a slice.
TEST(MmaSm80, SeveralThreadsToARow) {
  RunRandom<Nc32Policy<NCxHWx<32>, BiasRelu<>, MmaSm80Tile<32, 128, 256, 16, 32, 3>>>(15, 11);
}

// Eight warps with a k group of each slice, and two by two warps with halves of two.
TEST(MmaSm80, WarpsShareSlices) {
  RunRandom<Nc32Policy<NCxHWx<32>, BiasRelu<>, SlicedTile<16, 32, 256, 16, 32, 32, 3>>>(15, 14);
  RunRandom<NhwcPolicy<NHWC, BiasRelu<>, SlicedTile<32, 64, 128, 16, 64, 64, 4>, 4>>(15, 15, 4, 8);
}

TEST(MmaSm80, NhwcToNhwc) {
  RunRandom<NhwcPolicy<NHWC, BiasRelu<>, MmaSm80Tile<64, 64, 64, 32, 32, 3>>>(40, 6, 16, 8);
}

TEST(MmaSm80, NhwcToNc32) {
  RunRandom<NhwcPolicy<NCxHWx<32>, BiasRelu<>, MmaSm80Tile<128, 64, 64, 64, 32, 3>>>(30, 7, 16);
}

TEST(MmaSm80, NhwcEightByteLoads) {
  RunRandom<NhwcPolicy<NCxHWx<32>, BiasRelu<>, MmaSm80Tile<64, 64, 64, 32, 32, 3>, 8>>(30, 8, 8);
}

TEST(MmaSm80, NhwcFourByteLoads) {
  RunRandom<NhwcPolicy<NHWC, BiasRelu<>, MmaSm80Tile<64, 32, 64, 32, 32, 3, 1>, 4>>(30, 9, 4);
}

TEST(MmaSm80, NhwcChannelsThatDoNotFit) {
  using P = NhwcPolicy<NHWC, BiasRelu<>, MmaSm80Tile<64, 64, 64, 32, 32, 3>>;
  const auto op = Convolution<P>::Create(SquareProblem(1, 24, 8, 16, 3, 1, 1));
  EXPECT_EQ(
      op.status().message(),
      "conv: c=24 is not a multiple of 16, the channels of one 16-byte load from NHWC; pad C, "
      "lower config.alignment.src (16, 8 or 4), or use SrcLayout NCxHWx<32> or NCxHWx<4>, "
      "which pad by themselves");
}

TEST(MmaSm80, ResidualInOtherLayouts) {
  using namespace epilogues;  // NOLINT
  using E4 = Chain<Residual<std::int8_t, NCxHWx<4>>, Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  using ESame = ResidualBiasRelu<>;
  using ENhwc = Chain<Residual<std::int8_t, NHWC>, Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  const Problem p = SquareProblem(2, 48, 7, 40, 3, 1, 1);
  const reference::ReluActivation relu;
  using T = MmaSm80Tile<64, 64, 64, 32, 32, 3>;
  ExpectMatchesReference<Nc32Policy<NCxHWx<32>, ESame, T>>(p, relu, {.gamma = 0.7f});
  ExpectMatchesReference<Nc32Policy<NCxHWx<32>, E4, T>>(p, relu, {.gamma = 0.7f});
  ExpectMatchesReference<Nc32Policy<NHWC, ENhwc, T>>(p, relu, {.gamma = 0.7f});
  ExpectMatchesReference<NhwcPolicy<NHWC, ESame, T>>(p, relu, {.gamma = 0.7f});
}

TEST(MmaSm80, BiasInsideTheSum) {
  using namespace epilogues;  // NOLINT
  using E = Chain<SumBias, Scale, Relu, ClampTo<std::int8_t>>;
  RunRandom<Nc32Policy<NCxHWx<32>, E, MmaSm80Tile<64, 64, 64, 32, 32, 3>>>(10, 21);
}

TEST(MmaSm80, FloatOutput) {
  using E =
      epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>;
  RunRandom<Nc32Policy<NCHW, E, MmaSm80Tile<64, 64, 64, 32, 32, 3, 4>>>(15, 10);
}

TEST(MmaSm80, SmallK) {
  using P = Nc32Policy<NCxHWx<32>, BiasRelu<>, MmaSm80Tile<128, 32, 64, 32, 32, 3>>;
  RunRandom<P>(15, 5);
}

// Warps of 16 channels, for K of 8 and 16.
TEST(MmaSm80, SmallerK) {
  using T = Mma128x16;
  const reference::ReluActivation relu;
  for (const std::int64_t k : {1, 8, 12, 16}) {
    const Problem p = SquareProblem(2, 72, 9, k, 3, 1, 1);
    ExpectMatchesReference<Nc32Policy<NCxHWx<4>, BiasRelu<>, T>>(p, relu);
    ExpectMatchesReference<Nc32Policy<NCxHWx<32>, BiasRelu<>, T>>(p, relu);
    if (k % 4 == 0) ExpectMatchesReference<Nc32Policy<NHWC, BiasRelu<>, T>>(p, relu);
  }
  RunRandom<Nc32Policy<NCxHWx<32>, BiasRelu<>, T>>(15, 12);
  RunRandom<NhwcPolicy<NCxHWx<4>, BiasRelu<>, T>>(15, 13, 16);
}

}  // namespace
}  // namespace weft::conv
