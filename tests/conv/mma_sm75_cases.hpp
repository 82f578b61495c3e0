// Convolutions over NCxHWx<32> through the mma_sm75 mainloop: every store it can fuse.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/nc32_policies.hpp"

namespace weft::conv {

namespace {

using namespace epilogues;  // NOLINT: a test file that uses many of them

// Ragged problems, every second one with several packets of channels and every third one a 1x1
// without padding, which takes the other cursor. K is rounded up to a multiple of `channels`.
template <class P, class Activation = reference::ReluActivation>
void RunSm75(int count, std::uint32_t seed, RunOptions options = {}, std::int64_t channels = 1) {
  std::mt19937 engine(seed);
  for (int i = 0; i < count; ++i) {
    Problem problem = RandomProblem(engine);
    if (i % 2 == 0) problem.c += 60;
    if (i % 3 == 0) {
      problem.r = problem.s = problem.dilation_h = problem.dilation_w = 1;
      problem.pad_top = problem.pad_left = problem.pad_bottom = problem.pad_right = 0;
    }
    problem.k = RoundUp(problem.k, channels);
    options.seed = static_cast<std::uint32_t>(engine());
    ExpectMatchesReference<P>(problem, Activation{}, options);
    if (testing::Test::HasFailure()) return;
  }
}

using ReluToFloat = Chain<Scale, Bias<>, Relu, ToFloat>;
template <class Layout>
using ResidualRelu =
    Chain<Residual<std::int8_t, Layout>, Scale, Bias<>, Relu, ClampTo<std::int8_t>>;

TEST(MmaSm75, Nc32ToNc32) {
  RunSm75<Nc32Policy<NCxHWx<32>, BiasRelu<>, MmaSm75Tile<64, 64, 64, 32, 32>>>(40, 1);
}

TEST(MmaSm75, Nc32ToNc4) {
  RunSm75<Nc32Policy<NCxHWx<4>, BiasRelu<>, MmaSm75Tile<64, 32, 32, 32, 32, 4>>>(30, 2);
}

TEST(MmaSm75, Nc32ToNc64) {
  RunSm75<Nc32Policy<NCxHWx<64>, BiasRelu<>, MmaSm75Tile<32, 64, 64, 16, 32>>>(20, 3);
}

TEST(MmaSm75, Nc32ToNhwc) {
  RunSm75<Nc32Policy<NHWC, BiasRelu<>, MmaSm75Tile<32, 64, 64, 32, 32, 1>>>(30, 4);
}

TEST(MmaSm75, Nc32ToNhwcWideStores) {
  using P8 = Nc32Policy<NHWC, BiasRelu<>, MmaSm75Tile<32, 64, 64, 32, 32, 8>>;
  RunSm75<P8>(15, 5, {}, 8);
  using P16 = Nc32Policy<NHWC, BiasRelu<>, MmaSm75Tile<32, 64, 64, 32, 32, 16>>;
  RunSm75<P16>(15, 6, {}, 16);
}

TEST(MmaSm75, Nc32ToNchwFloat) {
  RunSm75<Nc32Policy<NCHW, ReluToFloat, MmaSm75Tile<64, 64, 32, 32, 32, 4>>>(30, 7);
}

TEST(MmaSm75, Nc32ToFloatSixteenBytes) {
  RunSm75<Nc32Policy<NCxHWx<4>, ReluToFloat, MmaSm75Tile<64, 32, 64, 32, 32, 16>>>(15, 8);
}

TEST(MmaSm75, ExactAccumulators) {
  using P = Nc32Policy<NCHW, Chain<ToAccumulator>, MmaSm75Tile<32, 32, 64, 16, 32, 4>>;
  RunSm75<P, reference::NoActivation>(20, 9);
}

TEST(MmaSm75, Residuals) {
  using Tile = MmaSm75Tile<64, 64, 64, 32, 32>;
  const RunOptions options{.gamma = 0.7f};
  RunSm75<Nc32Policy<NCxHWx<32>, ResidualBiasRelu<>, Tile>>(20, 10, options);
  RunSm75<Nc32Policy<NCxHWx<32>, ResidualRelu<NCxHWx<4>>, Tile>>(10, 11, options);
  RunSm75<Nc32Policy<NCxHWx<32>, ResidualRelu<NHWC>, Tile>>(10, 12, options);
  RunSm75<Nc32Policy<NCxHWx<32>, ResidualRelu<NCHW>, ArticleTile>>(10, 13, options);
}

TEST(MmaSm75, Activations) {
  using Tile = MmaSm75Tile<32, 64, 64, 16, 64>;
  RunSm75<Nc32Policy<NCxHWx<32>, BiasHSwish<>, Tile>, reference::HSwishActivation>(20, 15);
  using P = Nc32Policy<NCxHWx<32>, BiasRelu<std::int32_t>, ArticleTile>;
  RunSm75<P>(20, 16, {.per_tensor_alpha = true, .beta = 0.37f});
}

TEST(MmaSm75, BiasInsideTheSum) {
  using E = Chain<SumBias, Scale, Relu, ClampTo<std::int8_t>>;
  RunSm75<Nc32Policy<NCxHWx<32>, E, ArticleTile>>(10, 21);
}

TEST(MmaSm75, ArticleTile) {
  static_assert(ArticleTile::config.alignment.src == 16);
  using P = Nc32Policy<NCxHWx<32>, BiasRelu<>, ArticleTile>;
  RunSm75<P>(40, 17);
  ExpectMatchesReference<P>(SquareProblem(2, 64, 14, 150, 3, 1, 1), reference::ReluActivation{});
}

TEST(MmaSm75, LargeTiles) {
  using P = Nc32Policy<NCxHWx<32>, BiasRelu<>, MmaSm75Tile<128, 128, 64, 64, 32>>;
  RunSm75<P>(15, 18);
  ExpectMatchesReference<P>(SquareProblem(2, 64, 14, 150, 3, 1, 1), reference::ReluActivation{});
  ExpectMatchesReference<P>(SquareProblem(1, 200, 9, 70, 1, 0, 2), reference::ReluActivation{});
  RunSm75<Nc32Policy<NCxHWx<32>, BiasRelu<>, MmaSm75Tile<128, 64, 64, 64, 32, 16>>>(15, 19);
  RunSm75<Nc32Policy<NCxHWx<4>, BiasRelu<>, MmaSm75Tile<128, 32, 64, 64, 32, 4>>>(15, 20);
}

}  // namespace
}  // namespace weft::conv
