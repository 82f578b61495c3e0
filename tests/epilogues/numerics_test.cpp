#include "weft/epilogues/numerics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Numerics, RoundHalfEvenOfAnyFloat) {
  std::mt19937 engine(3);
  const auto expect = [](float x) {
    const double whole = std::nearbyint(static_cast<double>(x));
    const double limited = std::min(std::max(whole, -2147483648.0), 2147483647.0);
    ASSERT_EQ(RoundHalfEven(x), static_cast<std::int32_t>(limited)) << x;
  };
  for (int i = 0; i < 100000; ++i) {
    expect(RandomFloat(engine));
    expect(std::ldexp(static_cast<float>(engine()), -static_cast<int>(engine() % 34)));
    expect(-std::ldexp(static_cast<float>(engine() % 1024), -1));
  }
  for (const float x : {8388607.5f, -8388607.5f, 4194304.5f, 2147483648.0f, -2147483648.0f}) {
    expect(x);
  }
  EXPECT_EQ(RoundHalfEven(std::numeric_limits<float>::quiet_NaN()), 0);
}

// In the range of 8 bits and around it; beyond, the order of values must stay for saturation.
TEST(Numerics, RoundingModes) {
  for (int i = -40000; i <= 40000; ++i) {
    const float x = static_cast<float>(i) * 0.0625f;
    ASSERT_EQ(RoundSmall<Rounding::kHalfEven>(x), std::nearbyint(x)) << x;
    ASSERT_EQ(RoundSmall<Rounding::kHalfAway>(x), std::round(x)) << x;
    ASSERT_EQ(RoundSmall<Rounding::kHalfUp>(x), std::floor(static_cast<double>(x) + 0.5)) << x;
  }
  // Adding a half first would make 1 of it.
  EXPECT_EQ(RoundSmall<Rounding::kHalfUp>(0.49999997f), 0.0f);
  EXPECT_EQ(RoundSmall<Rounding::kHalfAway>(-0.49999997f), 0.0f);
  std::mt19937 engine(4);
  for (int i = 0; i < 100000; ++i) {
    const float x = RandomFloat(engine);
    if (std::abs(x) < 300.0f) continue;
    ASSERT_GT(RoundSmall<Rounding::kHalfUp>(x) * (x > 0 ? 1.0f : -1.0f), 299.0f) << x;
    ASSERT_GT(RoundSmall<Rounding::kHalfAway>(x) * (x > 0 ? 1.0f : -1.0f), 299.0f) << x;
  }
  using Away = Chain<Scale, RoundedTo<std::int8_t, Rounding::kHalfAway>>;
  using Up = Chain<Scale, ClampTo<std::int8_t, -3, 5, Rounding::kHalfUp>>;
  const auto half = [](int sum) { return StageInputs{.accumulator = sum, .alpha = 0.5f}; };
  EXPECT_EQ(Away{}(half(-5), {}), -3);
  EXPECT_EQ(Away{}(half(5), {}), 3);
  EXPECT_EQ(Away{}(half(-257), {}), -128);
  EXPECT_EQ(Up{}(half(-5), {}), -2);
  EXPECT_EQ(Up{}(half(-9), {}), -3);
  EXPECT_EQ(Up{}(half(11), {}), 5);
}

TEST(Numerics, ClampSendsNanToTheLowEnd) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Clamp(nan, -128.0f, 127.0f), -128.0f);
  EXPECT_EQ(Clamp(std::numeric_limits<float>::infinity(), -128.0f, 127.0f), 127.0f);
  EXPECT_EQ(Clamp(-std::numeric_limits<float>::infinity(), -128.0f, 127.0f), -128.0f);
}

TEST(Numerics, LimitHasNoNegativeZeroAndTakesNanForNoLimit) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Limit(nan, -2.0f, 3.0f), -2.0f);
  EXPECT_EQ(Limit(-5.0f, nan, 3.0f), -5.0f);
  EXPECT_EQ(Limit(5.0f, nan, 3.0f), 3.0f);
  EXPECT_EQ(Limit(5.0f, -2.0f, nan), 5.0f);
  EXPECT_EQ(Limit(std::numeric_limits<float>::infinity(), -2.0f, 3.0f), 3.0f);
  EXPECT_EQ(Limit(1.0f, 3.0f, -2.0f), -2.0f);  // as Clamp does
  for (const float x : {-0.0f, 0.0f}) {
    for (const float low : {-1.0f, -0.0f, 0.0f}) {
      for (const float high : {-0.0f, 0.0f, 1.0f}) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(Limit(x, low, high)), 0u) << low << ' ' << high;
      }
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    ASSERT_EQ(Limit(x, -2.5f, 3.5f), Clamp(x, -2.5f, 3.5f)) << x;
  }
}

TEST(Chain, IsUsableInConstantExpressions) {
  constexpr BiasHSwish<> chain;
  constexpr StageInputs in{
      .accumulator = 100, .alpha = 0.5f, .bias = 10.0f, .inverse_output_scale = 2.0f};
  static_assert(chain(in, {}) == 120);
  EXPECT_EQ(chain(in, {}), 120);
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

// 2^24 + 1 is not a float: the bias is added before the sum becomes one.
TEST(Chain, SumBiasIsAddedExactly) {
  constexpr std::int32_t kSum = 1 << 24;
  const StageInputs in{.accumulator = kSum, .sum_bias = 1, .alpha = 2.0f};
  EXPECT_EQ((Chain<SumBias, ToAccumulator>{}(in, {})), kSum + 1);
  EXPECT_EQ((Chain<SumBias, Scale, ToFloat>{}(StageInputs{.accumulator = kSum, .sum_bias = 3}, {})),
            static_cast<float>(kSum + 4));  // 2^24 + 3 rounds to the even neighbour
  EXPECT_EQ((Chain<SumBias, Scale, ToFloat>{}(in, {})), 2.0f * kSum);
  EXPECT_EQ((Chain<SumBias, Scale, ClampTo<std::int8_t>>{}(
                StageInputs{.accumulator = -10, .sum_bias = 40, .alpha = 0.5f}, {})),
            15);
}

// Beyond the contract's range the sum wraps; nothing is undefined.
TEST(Chain, SumBiasWraps) {
  const StageInputs in{.accumulator = 2147483647, .sum_bias = 1};
  EXPECT_EQ((Chain<SumBias, ToAccumulator>{}(in, {})), -2147483647 - 1);
}

// What a residual reads of the sums' chain: the residual comes first, then the whole sum.
TEST(Chain, ResidualBeforeSumBias) {
  const StageInputs in{
      .accumulator = 10, .sum_bias = 5, .alpha = 2.0f, .residual = 8.0f, .gamma = 0.5f};
  EXPECT_EQ((Chain<Residual<>, SumBias, Scale, ToFloat>{}(in, {})), 34.0f);
}

template <int kPlace>
struct CallAt {
  template <class F>
  constexpr float operator()(const F& f) const {
    return f(static_cast<float>(kPlace));
  }
};

// Constructors that are not constexpr are the functor's own affair: device_check.cuh sees to it.
TEST(Chain, FunctorChecks) {
  struct NotLiteral {
    float factor;
    NotLiteral() : factor(2.0f) {}
    constexpr float operator()(float x) const { return factor * x; }
  };
  struct Logarithm {  // undefined for one of the two numbers that are tried
    constexpr float operator()(float x) const { return std::log(x); }
  };
  struct Divide {  // undefined for F{}
    float by;
    constexpr float operator()(float x) const { return x / by; }
  };
  struct Table {
    std::int32_t last;
    float values[4];
    constexpr float operator()(float x) const { return values[static_cast<int>(x) % last]; }
  };
  struct Plain {
    float by;
    float operator()(float x) const { return x; }
  };
  EXPECT_TRUE((kConstexprFunctor<NotLiteral, CallAt<1>, CallAt<-1>>));
  EXPECT_TRUE((kConstexprFunctor<Logarithm, CallAt<1>, CallAt<-1>>));
  EXPECT_TRUE((kConstexprFunctor<Divide, CallAt<1>, CallAt<-1>>));
  EXPECT_TRUE((kConstexprFunctor<Table, CallAt<1>, CallAt<-1>>));
  Chain<Scale, Divide, ToFloat> divide;
  divide.Get<Divide>().by = 2.0f;
  EXPECT_EQ(divide(StageInputs{.accumulator = 3}, {}), 1.5f);
  EXPECT_FALSE((kConstexprFunctor<Plain, CallAt<1>, CallAt<-1>>));
  EXPECT_EQ((Chain<Scale, NotLiteral, ToFloat>{}(StageInputs{.accumulator = 3}, {})), 6.0f);
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
