// The reference against results worked out by hand.
#include "tests/reference/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weft::reference {
namespace {

using conv::Mode;
using conv::Problem;
using conv::SquareProblem;

std::vector<std::int32_t> Sums(const Problem& p, const std::vector<std::int8_t>& src,
                               const std::vector<std::int8_t>& filter) {
  return Convolve<std::int32_t>(p, src.data(), filter.data(), {}, NoActivation{}, kRawInt32);
}

TEST(Reference, TwoByTwoOverThreeByThree) {
  // 1 2 3      1 2     1*1+2*2+4*3+5*4=37  2*1+3*2+5*3+6*4=47
  // 4 5 6  *   3 4  =  4*1+5*2+7*3+8*4=67  5*1+6*2+8*3+9*4=77
  // 7 8 9
  EXPECT_EQ(Sums(SquareProblem(1, 1, 3, 1, 2, 0, 1), {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4}),
            (std::vector<std::int32_t>{37, 47, 67, 77}));
}

TEST(Reference, TrueConvolutionFlipsTheFilter) {
  Problem p = SquareProblem(1, 1, 3, 1, 2, 0, 1);
  p.mode = Mode::kConvolution;
  // 1*4+2*3+4*2+5*1=23  2*4+3*3+5*2+6*1=33  4*4+5*3+7*2+8*1=53  5*4+6*3+8*2+9*1=63
  EXPECT_EQ(Sums(p, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4}),
            (std::vector<std::int32_t>{23, 33, 53, 63}));
}

TEST(Reference, PaddingStrideAndDilation) {
  // Row 1 2 3 4 5, filter 1 10 at distance 2, one zero on the left, stride 2:
  // padded 0 1 2 3 4 5: 0*1+2*10=20, 2*1+4*10=42.
  Problem p;
  p.w = 5, p.s = 2, p.dilation_w = 2, p.pad_left = 1, p.stride_w = 2;
  EXPECT_EQ(p.q(), 2);
  EXPECT_EQ(Sums(p, {1, 2, 3, 4, 5}, {1, 10}), (std::vector<std::int32_t>{20, 42}));
}

TEST(Reference, SumsOverChannelsAndSeparatesOutputs) {
  // Two images, two input channels, three output channels, 1x1.
  const std::vector<std::int8_t> src = {1, 2, -3, -4};
  const std::vector<std::int8_t> filter = {10, 1, 0, -1, 5, 5};
  EXPECT_EQ(Sums(SquareProblem(2, 2, 1, 3, 1, 0, 1), src, filter),
            (std::vector<std::int32_t>{12, -2, 15, -34, 4, -35}));
}

TEST(Reference, GroupsSeeTheirOwnChannels) {
  // Two groups of two input channels and one output channel, 1x1: 1*10 + 2*1 = 12,
  // -3*5 + -4*-1 = -11.
  Problem p = SquareProblem(1, 4, 1, 2, 1, 0, 1);
  p.groups = 2;
  const auto filter_of_group = [](std::int64_t, std::int64_t, std::int64_t, std::int64_t group) {
    return group;
  };
  const std::vector<std::int8_t> src = {1, 2, -3, -4}, filters = {10, 1, 5, -1};
  EXPECT_EQ(Convolve<std::int32_t>(p, src.data(), filters.data(), {}, NoActivation{}, kRawInt32, 1,
                                   filter_of_group),
            (std::vector<std::int32_t>{12, -11}));
  // One input and two output channels a group, channels outermost: 1*2, 1*3; 10*4, 10*5.
  p = SquareProblem(1, 2, 1, 4, 1, 0, 1);
  p.groups = 2;
  const std::vector<std::int8_t> two = {1, 10}, four = {2, 3, 4, 5};
  EXPECT_EQ(Convolve<std::int32_t>(p, two.data(), four.data(), {}, NoActivation{}, kRawInt32, 1,
                                   filter_of_group),
            (std::vector<std::int32_t>{2, 3, 40, 50}));
}

TEST(Reference, EachOutputAsksForItsFilter) {
  // Two images of 1 x 3 pixels, 1x1 filters 1, 10, 100: image n, pixel q uses filter (n + q) % 3.
  Problem p = SquareProblem(2, 1, 1, 1, 1, 0, 1);
  p.w = 3;
  const auto which = [](std::int64_t n, std::int64_t row, std::int64_t q, std::int64_t group) {
    return (n + q) % 3 + row + group;  // row and group are 0
  };
  const std::vector<std::int8_t> src = {1, 2, 3, 4, 5, 6}, filters = {1, 10, 100};
  EXPECT_EQ(Convolve<std::int32_t>(p, src.data(), filters.data(), {}, NoActivation{}, kRawInt32, 1,
                                   which),
            (std::vector<std::int32_t>{1, 20, 300, 40, 500, 6}));
}

TEST(Reference, ExtremeValuesDoNotOverflow) {
  const std::int64_t c = 131071;  // the most that conv::CheckProblem accepts
  const std::vector<std::int8_t> src(c, -128), filter(c, -128);
  EXPECT_EQ(Accumulate(SquareProblem(1, c, 1, 1, 1, 0, 1), src.data(), filter.data(), 0, 0, 0, 0),
            131071LL * 16384);
}

TEST(Reference, QuantizeRoundsHalvesToEven) {
  const auto q = [](float x) { return Quantize<std::int8_t>(x, 0.0f, -128, 127); };
  EXPECT_EQ(q(0.5f), 0);
  EXPECT_EQ(q(1.5f), 2);
  EXPECT_EQ(q(2.5f), 2);
  EXPECT_EQ(q(-0.5f), 0);
  EXPECT_EQ(q(-1.5f), -2);
  EXPECT_EQ(q(-2.5f), -2);
  EXPECT_EQ(q(2.50001f), 3);
  EXPECT_EQ(q(126.5f), 126);
  EXPECT_EQ(q(127.5f), 127);
  EXPECT_EQ(q(1e30f), 127);
  EXPECT_EQ(q(-128.5f), -128);
  EXPECT_EQ(q(-1e30f), -128);
  EXPECT_EQ(q(std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(q(std::numeric_limits<float>::infinity()), 127);
  // Against the C library's rounding, which is half-even by default.
  for (int i = -1300; i <= 1300; ++i) {
    const float x = static_cast<float>(i) / 10.0f;
    const float want = std::fmin(127.0f, std::fmax(-128.0f, std::nearbyint(x)));
    EXPECT_EQ(q(x), static_cast<int>(want)) << x;
  }
}

TEST(Reference, ContractInOrder) {
  // acc 100, alpha 0.25, bias 3 (beta 2), residual 8 (gamma 0.5): 0.5*8 + 0.25*100 + 2*3 = 35.
  const float bias[] = {3.0f}, alpha[] = {0.25f};
  const std::int8_t residual[] = {8};
  EpilogueData e;
  e.channel_alpha = alpha, e.bias = bias, e.beta = 2.0f, e.residual = residual, e.gamma = 0.5f;
  EXPECT_EQ(Value(100, 0, 0, e, NoActivation{}), 35.0f);
  EXPECT_EQ(Value(-1000, 0, 0, e, ReluActivation{}), 0.0f);
  const std::int32_t bias_int32[] = {-7};
  e.bias = nullptr, e.bias_int32 = bias_int32;
  EXPECT_EQ(Value(100, 0, 0, e, NoActivation{}), 15.0f);
}

TEST(Reference, OneRoundingPerLine) {
  // alpha * acc = (1 + 2^-23) (2^24 + 2) = 2^24 + 4 + 2^-22 rounds to 2^24 + 4 (floats there are 2
  // apart). Adding the bias 1 gives a tie, which goes to the even neighbour, 2^24 + 4; one rounding
  // for both lines would have given 2^24 + 6.
  EpilogueData e;
  const float alpha[] = {1.0f + 0x1p-23f}, bias[] = {1.0f};
  e.channel_alpha = alpha, e.bias = bias;
  EXPECT_EQ(Value(16777218, 0, 0, e, NoActivation{}), 16777220.0f);
}

TEST(Reference, HSwish) {
  const HSwishActivation f;
  EXPECT_EQ(f(-3.0f), 0.0f);
  EXPECT_EQ(f(-10.0f), 0.0f);
  EXPECT_EQ(f(0.0f), 0.0f);
  EXPECT_NEAR(f(3.0f), 3.0f, 1e-6f);
  EXPECT_NEAR(f(12.0f), 12.0f, 1e-5f);
  EXPECT_NEAR(f(-1.5f), -1.5f * 1.5f / 6.0f, 1e-6f);
  EXPECT_NEAR(f(1.0f), 4.0f / 6.0f, 1e-6f);
}

TEST(Reference, ThreadsGiveTheSameResult) {
  const Problem p = SquareProblem(2, 3, 9, 5, 3, 1, 1);
  std::vector<std::int8_t> src(p.n * p.c * p.h * p.w), filter(p.k * p.c * p.r * p.s);
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = static_cast<std::int8_t>(i * 37);
  for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<std::int8_t>(i * 91);
  const auto run = [&](int threads) {
    return Convolve<std::int32_t>(p, src.data(), filter.data(), {}, NoActivation{}, kRawInt32,
                                  threads);
  };
  EXPECT_EQ(run(1), run(3));
}

}  // namespace
}  // namespace weft::reference
