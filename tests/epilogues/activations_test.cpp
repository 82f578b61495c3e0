// Every activation: its error against the true function, its ends, its order, what it does to NaN.
//
// What holds for all floats is tried with two million of them; with WEFT_EVERY_FLOAT=1 in the
// environment with every one, which takes half an hour. activations_test.cu does that on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "tests/epilogues/activation_bounds.hpp"
#include "tests/reference/activations.hpp"
#include "tests/reference/reference.hpp"
#include "weft/epilogues/chain.hpp"

namespace weft::epilogues {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::uint32_t Bits(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

// visit(x) for floats from the least finite one to the greatest.
template <class Visit>
void ForFloats(const Visit& visit) {
  const bool every = std::getenv("WEFT_EVERY_FLOAT") != nullptr;
  const std::uint32_t step = every ? 1 : 2039;
  constexpr std::uint32_t kGreatest = 0x7f7fffff;
  for (std::uint32_t i = kGreatest - kGreatest % step;; i -= step) {
    visit(-std::bit_cast<float>(i));
    if (i == 0) break;
  }
  for (std::uint32_t i = 0; i <= kGreatest; i += step) visit(std::bit_cast<float>(i));
}

template <class True>
class WithBounds : public testing::Test {};
TYPED_TEST_SUITE(WithBounds, ActivationRows<testing::Types>::All);

TYPED_TEST(WithBounds, IsWithinItsBound) {
  const typename TypeParam::Activation activation;
  Errors errors;
  ForFloats([&](float x) { errors.Add(activation(x), TypeParam::At(x)); });
  EXPECT_LE(errors.absolute, TypeParam::kAbsolute);
  EXPECT_GE(errors.absolute, TypeParam::kAbsolute / 3);  // the bound means something
  if (TypeParam::kUlp != kNoBound) {
    EXPECT_LE(errors.ulp, TypeParam::kUlp);
    EXPECT_GT(errors.ulp, TypeParam::kUlp / 3);
  }
}

// From the least float to the greatest, the infinities and NaN.
TYPED_TEST(WithBounds, StaysInRange) {
  const typename TypeParam::Activation activation;
  constexpr double kLeast = TypeParam::kLeast;
  constexpr bool kBounded = TypeParam::kGreatest != kNoBound;
  int outside = 0;
  ForFloats([&](float x) {
    const float y = activation(x);
    const double most = kBounded ? TypeParam::kGreatest : std::max(x, 0.0f);
    outside += !(y >= kLeast && y <= most);
  });
  EXPECT_EQ(outside, 0);
  EXPECT_EQ(activation(kInfinity), kBounded ? static_cast<float>(TypeParam::kGreatest) : kInfinity);
  if (TypeParam::kOfNan == OfNan::kNanStays) {
    EXPECT_TRUE(std::isnan(activation(kNan)));
    return;
  }
  // NaN, of either sign, counts as -infinity.
  const float least = activation(-kInfinity);
  EXPECT_NEAR(least, kBounded ? kLeast : 0.0, 5e-15);
  EXPECT_EQ(Bits(activation(kNan)), Bits(least));
  EXPECT_EQ(Bits(activation(-kNan)), Bits(least));
  EXPECT_EQ(Bits(activation(-std::numeric_limits<float>::max())), Bits(least));
}

// What a quantised layer computes: alpha makes real values of the sums, the output's scale steps of the
// activation's, which are within half a step of the true function of real numbers.
template <class True>
void ExpectRealValues(std::int32_t sum, float alpha, float bias, float output_scale) {
  const BiasActivation<typename True::Activation> chain;
  const StageInputs in{.accumulator = sum,
                       .alpha = alpha,
                       .bias = bias,
                       .inverse_output_scale = 1.0f / output_scale};
  const double real = static_cast<double>(alpha) * sum + bias;
  const double want = std::clamp(True::At(real), -128.0 * output_scale, 127.0 * output_scale);
  // The few roundings in float, of values that the output's range limits.
  const double noise = 1e-4 * output_scale;
  EXPECT_NEAR(chain(in, {}) * static_cast<double>(output_scale), want, 0.5 * output_scale + noise)
      << sum << " times " << alpha << " plus " << bias << ", steps of " << output_scale;
}
TYPED_TEST(WithBounds, IsOfRealValuesBetweenTwoScales) {
  for (const std::int32_t sum : {-730, -500, -150, 170, 560}) {
    ExpectRealValues<TypeParam>(sum, 0.01f, 0.0f, 0.05f);
    ExpectRealValues<TypeParam>(sum, 0.01f, 0.0f, 1.0f / 127.0f);
    ExpectRealValues<TypeParam>(3 * sum, 0.0037f, 0.71f, 0.043f);
  }
}

// The same of bytes that were quantised before.
TYPED_TEST(WithBounds, IsOfRealValuesOnSteps) {
  using F = OnSteps<typename TypeParam::Activation>;
  BiasActivation<F> chain;
  chain.template Get<F>().scale = 0.05f;
  for (const std::int32_t sum : {-3000, -730, -501, -150, 172, 560, 3000}) {
    const StageInputs in{
        .accumulator = sum, .alpha = 0.01f / 0.05f, .inverse_output_scale = 1.0f / 0.04f};
    const double byte = std::clamp(std::nearbyint(sum * 0.2), -128.0, 127.0);
    const double want = std::min(TypeParam::At(byte * 0.05), 127 * 0.04);
    EXPECT_NEAR(chain(in, {}) * 0.04, want, 0.02001) << sum;
  }
}

// By more than `ulp` from one float to the next.
template <class F>
void ExpectNeverFalls(const F& activation, float ulp = 0.0f) {
  float before = activation(-kInfinity);
  int falls = 0;
  ForFloats([&](float x) {
    const float y = activation(x);
    falls += before - y > ulp * std::ldexp(std::fabs(before), -23);
    before = y;
  });
  EXPECT_EQ(falls, 0);
}

TEST(Activations, NeverFall) {
  ExpectNeverFalls(Relu{});
  ExpectNeverFalls(Relu6{});
  ExpectNeverFalls(ClampRange{-1.5f, 2.5f});
  ExpectNeverFalls(LeakyRelu{0.1f});
  ExpectNeverFalls(HSigmoid{});
  ExpectNeverFalls(Identity{});
  ExpectNeverFalls(Sigmoid{}, 2.0f);
  ExpectNeverFalls(Tanh{}, 3.0f);
}

TEST(Activations, ValuesAtZero) {
  EXPECT_EQ(Sigmoid{}(0.0f), 0.5f);
  EXPECT_EQ(Sigmoid{}(-0.0f), 0.5f);
  EXPECT_EQ(Bits(Tanh{}(0.0f)), Bits(0.0f));
  EXPECT_EQ(Bits(Tanh{}(-0.0f)), Bits(-0.0f));
  EXPECT_EQ(Silu{}(0.0f), 0.0f);
  EXPECT_EQ(Gelu{}(0.0f), 0.0f);
  EXPECT_EQ(GeluTanh{}(0.0f), 0.0f);
  EXPECT_EQ(HSigmoid{}(0.0f), 0.5f);
}

TEST(Activations, TanhIsOdd) {
  int different = 0;
  ForFloats([&](float x) { different += Bits(Tanh{}(-x)) != (Bits(Tanh{}(x)) ^ 0x80000000u); });
  EXPECT_EQ(different, 0);
}

TEST(Activations, EndsAreReached) {
  EXPECT_EQ(Sigmoid{}(17.4f), 1.0f);
  EXPECT_EQ(Tanh{}(9.02f), 1.0f);
  EXPECT_EQ(Silu{}(20.0f), 20.0f);
  EXPECT_EQ(Gelu{}(6.0f), 6.0f);
  EXPECT_EQ(GeluTanh{}(6.0f), 6.0f);
  EXPECT_GT(Sigmoid{}(-kInfinity), 0.0f);
  EXPECT_EQ(HSigmoid{}(3.0f), 1.0f);
  EXPECT_EQ(HSigmoid{}(kInfinity), 1.0f);
  EXPECT_EQ(HSigmoid{}(-3.0f), 0.0f);
}

// The definitions a second time, in other words.
TEST(Activations, AreTheReferencesToTheBit) {
  const auto expect_same = [](const auto& activation, const auto& reference) {
    int different = 0;
    const auto compare = [&](float x) {
      const float y = activation(x), want = reference(x);  // the bits of NaN are not defined
      different += Bits(y) != Bits(want) && !(std::isnan(y) && std::isnan(want));
    };
    ForFloats(compare);
    for (const float x : {kInfinity, -kInfinity, kNan, -kNan}) compare(x);
    EXPECT_EQ(different, 0);
  };
#define WEFT_ACTIVATION(functor, chain, of_reference, ...) \
  expect_same(functor{}, reference::of_reference{});
#include "weft/epilogues/activations.def"
}

// No floating-point environment, no flags: the bits of a few results, which any back end has.
TEST(Activations, AreConstantExpressions) {
  static_assert(Sigmoid{}(0.0f) == 0.5f);
  static_assert(Tanh{}(20.0f) == 1.0f);
  static_assert(Silu{}(-100.0f) == Silu{}(-87.0f));
  static_assert(Gelu{}(8.0f) == 8.0f);
  static_assert(GeluTanh{}(-kInfinity) == GeluTanh{}(-10.0f));
  static_assert(OnSteps<HSwish>{2.0f, 1.0f}(1.5f) == 4.0f);
}

TEST(Activations, PiecewiseLinear) {
  EXPECT_EQ(LeakyRelu{0.3f}(-2.0f), -2.0f * 0.3f);
  EXPECT_EQ(LeakyRelu{0.3f}(2.0f), 2.0f);
  EXPECT_TRUE(std::isnan(LeakyRelu{}(kNan)));
  EXPECT_EQ((PRelu{}(-2.0f, 0.3f)), -2.0f * 0.3f);
  EXPECT_EQ((PRelu{}(2.0f, 0.3f)), 2.0f);
  EXPECT_EQ(Relu6{}(-1.0f), 0.0f);
  EXPECT_EQ(Relu6{}(5.5f), 5.5f);
  EXPECT_EQ(Relu6{}(7.0f), 6.0f);
  EXPECT_EQ(Bits(Relu6{}(kNan)), Bits(0.0f));
  EXPECT_EQ(Bits(Relu6{}(-0.0f)), Bits(0.0f));
  EXPECT_EQ(HSigmoid{}(1.0f), 2.0f / 3.0f);
  EXPECT_EQ(HSigmoid{}(kNan), 0.0f);
  EXPECT_EQ((ClampRange{-2.0f, 3.0f}(kNan)), -2.0f);
}

// Of a chain: the channel's value comes with the inputs.
TEST(Activations, ChannelValues) {
  using E = Chain<Scale, PRelu, ToFloat>;
  static_assert(E::kHasChannelValues && !E::kNeedsCoordinate);
  static_assert(!BiasRelu<>::kHasChannelValues);
  EXPECT_EQ((E{}(StageInputs{.accumulator = -8, .channel_value = 0.25f}, {})), -2.0f);
  EXPECT_EQ((E{}(StageInputs{.accumulator = 8, .channel_value = 0.25f}, {})), 8.0f);
  const float slopes[] = {0.5f, 0.25f};
  E chain;
  chain.Get<PRelu>().slope = slopes;
  EXPECT_EQ(chain.ChannelValues(), slopes);
}

}  // namespace
}  // namespace weft::epilogues
