// Every destination layout that a kernel can write, over random ragged problems.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/policies.hpp"

namespace weft::conv {
namespace {

using epilogues::BiasIdentity;
using epilogues::BiasRelu;

template <class P>
void RunRandomProblems(int count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  for (int i = 0; i < count; ++i) {
    RunOptions options;
    options.seed = static_cast<std::uint32_t>(engine());
    ExpectMatchesReference<P>(RandomProblem(engine), reference::ReluActivation{}, options);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ConvolutionLayouts, Nc4ToNc4) {
  RunRandomProblems<TestPolicy<NCxHWx<4>, BiasRelu<>>>(40, 1);
}

TEST(ConvolutionLayouts, Nc4ToNc32) {
  RunRandomProblems<TestPolicy<NCxHWx<32>, BiasRelu<>>>(40, 2);
}

TEST(ConvolutionLayouts, Nc4ToNc32EightBytes) {
  RunRandomProblems<TestPolicy<NCxHWx<32>, BiasRelu<>, Tile<64, 32, 32, 64, 32, 8, 8, 8>>>(30, 3);
}

TEST(ConvolutionLayouts, Nc4ToNc64) {
  RunRandomProblems<TestPolicy<NCxHWx<64>, BiasRelu<>>>(20, 4);
}

// Byte stores: any K.
TEST(ConvolutionLayouts, Nc4ToNhwcAnyK) {
  RunRandomProblems<TestPolicy<NHWC, BiasRelu<>, SmallTile<1>>>(40, 5);
}

TEST(ConvolutionLayouts, Nc4ToNhwcWords) {
  using P = TestPolicy<NHWC, BiasRelu<>>;
  std::mt19937 engine(6);
  for (int i = 0; i < 30; ++i) {
    Problem problem = RandomProblem(engine);
    problem.k = RoundUp(problem.k, 4);
    ExpectMatchesReference<P>(problem, reference::ReluActivation{},
                              {.seed = static_cast<std::uint32_t>(engine())});
  }
}

TEST(ConvolutionLayouts, Nc4ToNchwInt8) {
  RunRandomProblems<TestPolicy<NCHW, BiasRelu<>, SmallTile<1>>>(30, 7);
}

TEST(ConvolutionLayouts, Nc4ToNchwFloat) {
  using Epilogue =
      epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>;
  RunRandomProblems<TestPolicy<NCHW, Epilogue>>(40, 8);
}

TEST(ConvolutionLayouts, Nc4ToNhwcFloat) {
  using Epilogue =
      epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>;
  RunRandomProblems<TestPolicy<NHWC, Epilogue, SmallTile<4>>>(20, 9);
}

TEST(ConvolutionLayouts, Nc4ToNc4Float) {
  using Epilogue =
      epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>;
  RunRandomProblems<TestPolicy<NCxHWx<4>, Epilogue, SmallTile<16>>>(20, 10);
}

}  // namespace
}  // namespace weft::conv
