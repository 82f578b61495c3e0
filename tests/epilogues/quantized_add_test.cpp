// QuantizedAdd against the formula of its header, over all pairs of bytes, and in a chain.
#include "weft/epilogues/quantized_add.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "weft/epilogues/chain.hpp"

namespace weft::epilogues {
namespace {

struct Numbers {
  float sa, sb, sy;
  int za, zb, zy;
};
constexpr Numbers kNumbers[] = {{0.05f, 0.031f, 0.062f, 0, 130, 9},
                                {0.013f, 0.4f, 0.11f, 117, 0, 255},
                                {1.0f, 1.0f, 2.0f, 0, 0, 0},
                                {0.1f, 0.3f, 0.2f, 255, 255, 1}};

std::uint8_t Plain(const Numbers& n, int a, int b) {
  const float ra = n.sa / n.sy, rb = n.sb / n.sy;
  const float fixed = static_cast<float>(n.zy) -
                      std::fma(ra, static_cast<float>(n.za), rb * static_cast<float>(n.zb));
  const float sum = std::fma(static_cast<float>(a), ra, std::fma(static_cast<float>(b), rb, fixed));
  return static_cast<std::uint8_t>(std::fmin(std::fmax(std::nearbyint(sum), 0.0f), 255.0f));
}

template <bool kSumIsFirst>
void CompareAll() {
  using Add = QuantizedAdd<std::uint8_t, kSumIsFirst>;
  Chain<SumBias, Scale, QuantizeSteps<>, Add, ClampTo<std::uint8_t>> chain;
  for (const Numbers& n : kNumbers) {
    const float ra = n.sa / n.sy, rb = n.sb / n.sy;
    chain.template Get<QuantizeSteps<>>().zero_point =
        static_cast<float>(kSumIsFirst ? n.za : n.zb);
    Add& add = chain.template Get<Add>();
    add.sum_ratio = kSumIsFirst ? ra : rb;
    add.fixed = static_cast<float>(n.zy) -
                std::fma(ra, static_cast<float>(n.za), rb * static_cast<float>(n.zb));
    StageInputs in;
    in.gamma = kSumIsFirst ? rb : ra;
    int wrong = 0;
    // The sum is 16 for a step, with a few more or less, and goes beyond both ends of the range.
    for (int steps = -300; steps <= 300; ++steps) {
      for (int residual = 0; residual < 256; ++residual) {
        in.accumulator = 16 * steps + (steps + residual) % 8;
        in.alpha = 1.0f / 16.0f;
        in.residual = static_cast<float>(residual);
        const int zero = kSumIsFirst ? n.za : n.zb;
        const float rounded = std::nearbyint(static_cast<float>(in.accumulator) / 16.0f);
        const int q = static_cast<int>(
            std::fmin(std::fmax(rounded + static_cast<float>(zero), 0.0f), 255.0f));
        wrong += chain(in, OutputCoord{}) !=
                 (kSumIsFirst ? Plain(n, q, residual) : Plain(n, residual, q));
      }
    }
    EXPECT_EQ(wrong, 0) << n.sa;
  }
}

// QuantizeSteps against its formula: halves, both ends of the range, and what lies far beyond them.
template <class Type>
void CompareSteps() {
  constexpr int kLeast = std::numeric_limits<Type>::min(), kMost = std::numeric_limits<Type>::max();
  int wrong = 0;
  for (int zero = kLeast; zero <= kMost; ++zero) {
    const QuantizeSteps<Type> steps{static_cast<float>(zero)};
    const auto compare = [&](float t) {
      const double shifted = std::nearbyint(static_cast<double>(t)) + zero;
      wrong +=
          static_cast<double>(steps(t)) !=
          std::fmin(std::fmax(shifted, static_cast<double>(kLeast)), static_cast<double>(kMost));
    };
    for (int quarters = -4 * 300; quarters <= 4 * 300; ++quarters) {
      const float t = 0.25f * static_cast<float>(quarters);
      compare(t), compare(std::nextafter(t, 1e9f)), compare(std::nextafter(t, -1e9f));
    }
    for (float t = 300.0f; t < 1e38f; t *= 1.7f)
      compare(t), compare(-t), compare(1.0f / t), compare(-1.0f / t);
    compare(std::numeric_limits<float>::infinity()),
        compare(-std::numeric_limits<float>::infinity());
    wrong += static_cast<int>(steps(std::numeric_limits<float>::quiet_NaN())) != kMost;
  }
  EXPECT_EQ(wrong, 0);
}
TEST(QuantizeSteps, Unsigned) {
  CompareSteps<std::uint8_t>();
}
TEST(QuantizeSteps, Signed) {
  CompareSteps<std::int8_t>();
}

TEST(QuantizedAdd, ConvolutionFirst) {
  CompareAll<true>();
}
TEST(QuantizedAdd, ConvolutionSecond) {
  CompareAll<false>();
}

// The order of the operands is seen in some bits, so that it cannot be left out.
TEST(QuantizedAdd, OrderMatters) {
  int differences = 0;
  for (int i = 1; i < 40; ++i) {
    const float sa = 0.0131f * static_cast<float>(i), sb = 0.0217f,
                sy = 0.0173f * static_cast<float>(i);
    const Numbers n = {sa, sb, sy, 3, 0, 7}, swapped = {sb, sa, sy, 0, 3, 7};
    for (int a = 0; a < 256; ++a) {
      for (int b = 0; b < 256; ++b) differences += Plain(n, a, b) != Plain(swapped, b, a);
    }
  }
  EXPECT_GT(differences, 0);
}

}  // namespace
}  // namespace weft::epilogues
