#include "weft/epilogues/numerics.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "weft/epilogues/chain.hpp"

namespace weft::epilogues {
namespace {

bool SameBits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// Any bit pattern but NaN.
float RandomFloat(std::mt19937& engine) {
  for (;;) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
    if (!std::isnan(x)) return x;
  }
}

TEST(Numerics, MulAndAddAreTheIeeeOperations) {
  std::mt19937 engine(1);
  for (int i = 0; i < 100000; ++i) {
    const float a = RandomFloat(engine), b = RandomFloat(engine);
    volatile float va = a, vb = b;  // keeps the plain operations from being fused or folded
    const float product = va * vb, sum = va + vb;
    ASSERT_TRUE(std::isnan(product) || SameBits(Mul(a, b), product)) << a << " * " << b;
    ASSERT_TRUE(std::isnan(sum) || SameBits(Add(a, b), sum)) << a << " + " << b;
  }
  EXPECT_TRUE(SameBits(Mul(-1.0f, 0.0f), -0.0f));
  EXPECT_TRUE(SameBits(Mul(-1.0f, -0.0f), 0.0f));
  EXPECT_TRUE(SameBits(Add(-0.0f, -0.0f), -0.0f));
  EXPECT_TRUE(SameBits(Add(-0.0f, 0.0f), 0.0f));
}

TEST(Numerics, RoundHalfEvenIsNearbyint) {
  for (int i = -40000; i <= 40000; ++i) {
    const float x = static_cast<float>(i) * 0.0625f;
    ASSERT_EQ(RoundHalfEvenSmall(x), static_cast<int>(std::nearbyint(x))) << x;
  }
  std::mt19937 engine(2);
  std::uniform_real_distribution<float> any(-4194304.0f, 4194304.0f);
  for (int i = 0; i < 100000; ++i) {
    const float x = any(engine);
    ASSERT_EQ(RoundHalfEvenSmall(x), static_cast<int>(std::nearbyint(x))) << x;
  }
  EXPECT_EQ(RoundHalfEvenSmall(4194304.0f), 4194304);
  EXPECT_EQ(RoundHalfEvenSmall(-4194304.0f), -4194304);
}

TEST(Numerics, ClampSendsNanToTheLowEnd) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Clamp(nan, -128.0f, 127.0f), -128.0f);
  EXPECT_EQ(Clamp(std::numeric_limits<float>::infinity(), -128.0f, 127.0f), 127.0f);
  EXPECT_EQ(Clamp(-std::numeric_limits<float>::infinity(), -128.0f, 127.0f), -128.0f);
}

TEST(Chain, IsUsableInConstantExpressions) {
  constexpr Chain<Scale, Bias<>, HSwish, ClampTo<std::int8_t>> chain;
  constexpr StageInputs in{.accumulator = 100, .alpha = 0.5f, .bias = 10.0f};
  static_assert(chain(in, {}) == 60);
  EXPECT_EQ(chain(in, {}), 60);
}

TEST(Chain, AppliesStagesLeftToRight) {
  struct AddOne {
    constexpr float operator()(float x) const { return x + 1.0f; }
  };
  struct Double {
    constexpr float operator()(float x) const { return x * 2.0f; }
  };
  const StageInputs in{.accumulator = 10};
  EXPECT_EQ((Chain<Scale, AddOne, Double, ToFloat>{}(in, {})), 22.0f);
  EXPECT_EQ((Chain<Scale, Double, AddOne, ToFloat>{}(in, {})), 21.0f);
}

TEST(Chain, ResidualBeforeAndAfterTheActivation) {
  const StageInputs in{.accumulator = -10, .residual = 4.0f, .gamma = 0.5f};
  EXPECT_EQ((Chain<Residual<>, Scale, Relu, ToFloat>{}(in, {})), 0.0f);
  EXPECT_EQ((Chain<Scale, Relu, Residual<>, ToFloat>{}(in, {})), 2.0f);
}

TEST(Chain, NoStageButTheOutput) {
  EXPECT_EQ((Chain<ToAccumulator>{}(StageInputs{.accumulator = 2147483647}, {})), 2147483647);
}

TEST(Chain, ReluOfNegativeZeroAndNan) {
  EXPECT_TRUE(SameBits(Relu{}(-0.0f), 0.0f));
  EXPECT_TRUE(SameBits(Relu{}(std::numeric_limits<float>::quiet_NaN()), 0.0f));
}

// Chains travel to the GPU byte by byte.
TEST(Chain, IsTriviallyCopyable) {
  EXPECT_TRUE(std::is_trivially_copyable_v<BiasHSwish<>>);
  EXPECT_TRUE((std::is_trivially_copyable_v<Chain<Scale, ClampRange, ToFloat>>));
}

}  // namespace
}  // namespace weft::epilogues
