#include "weft/layouts/element/float8.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>

#include "weft/layouts/element/tf32.hpp"

namespace weft {
namespace {

// A code's value by the definition of the format: 2^(exponent - bias) (1 + mantissa / 2^M), and without
// the 1 where the exponent is 0. `infinity`: the largest exponent is for infinity and NaN.
template <int kMantissa>
double ValueOf(int code, int bias, bool infinity) {
  const int magnitude = code & 0x7f, exponent = magnitude >> kMantissa;
  const double fraction = std::ldexp(magnitude % (1 << kMantissa), -kMantissa);
  const double sign = code < 0x80 ? 1.0 : -1.0;
  if (infinity && exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (!infinity && magnitude == 0x7f) return NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1.0 + fraction, exponent - bias));
}
double ValueOf(Float8E4m3 x) {
  return ValueOf<3>(x.bits, 7, false);
}
double ValueOf(Float8E5m2 x) {
  return ValueOf<2>(x.bits, 15, true);
}

// The code nearest to x of all finite ones, by looking at each: halves go to the even code.
template <class T>
T Nearest(float x) {
  if (std::isnan(x)) return T::FromBits(0x7f);
  const double size = std::min<double>(std::abs(x), 1e6);
  int best = 0;
  double least = INFINITY;
  for (int code = 0; code < 0x80; ++code) {
    const double distance = std::abs(ValueOf(T::FromBits(static_cast<std::uint8_t>(code))) - size);
    if (distance < least || (distance == least && code % 2 == 0)) best = code, least = distance;
  }
  return T::FromBits(static_cast<std::uint8_t>(best | (std::signbit(x) ? 0x80 : 0)));
}

template <class T>
void ExpectCodes(int largest) {
  for (int code = 0; code < 256; ++code) {
    const T x = T::FromBits(static_cast<std::uint8_t>(code));
    const float value = x.ToFloat();
    const double want = ValueOf(x);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(value)) << code;
      EXPECT_EQ(T::FromFloat(value), T::FromBits(0x7f)) << code;
      continue;
    }
    EXPECT_EQ(value, want) << code;
    EXPECT_EQ(std::signbit(value), code >= 0x80) << code;
    const int sign = code & 0x80;
    const bool finite = (code & 0x7f) <= largest;
    EXPECT_EQ(T::FromFloat(value).bits, finite ? code : sign | largest) << code;
    if ((code & 0x7f) >= largest) continue;
    // The midpoint to the next code and its neighbours.
    const float next = T::FromBits(static_cast<std::uint8_t>(code + 1)).ToFloat();
    const float middle = (value + next) / 2;
    EXPECT_EQ(T::FromFloat(middle).bits, code % 2 == 0 ? code : code + 1) << code;
    EXPECT_EQ(T::FromFloat(std::nextafter(middle, value)).bits, code) << code;
    EXPECT_EQ(T::FromFloat(std::nextafter(middle, next)).bits, code + 1) << code;
  }
}

template <class T>
void ExpectRandomFloats(std::uint32_t seed) {
  std::mt19937 engine(seed);
  for (int i = 0; i < 40000; ++i) {
    // Any bits, and numbers of the format's own binades.
    const float x = i % 2 == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(engine()))
                               : std::ldexp(static_cast<float>(static_cast<std::int32_t>(engine())),
                                            static_cast<int>(engine() % 40) - 52);
    ASSERT_EQ(T::FromFloat(x).bits, Nearest<T>(x).bits) << std::hexfloat << x;
  }
}

TEST(Float8, E4m3) {
  ExpectCodes<Float8E4m3>(0x7e);
  ExpectRandomFloats<Float8E4m3>(1);
  static_assert(Float8E4m3::FromFloat(448.0f).bits == 0x7e);
  static_assert(Float8E4m3::FromBits(0x7e).ToFloat() == 448.0f);
  EXPECT_EQ(Float8E4m3::FromFloat(1e30f).bits, 0x7e);
  EXPECT_EQ(Float8E4m3::FromFloat(-INFINITY).bits, 0xfe);
  EXPECT_EQ(Float8E4m3::FromFloat(-NAN).bits, 0x7f);
  EXPECT_EQ(Float8E4m3::FromFloat(-0.0f).bits, 0x80);
}

TEST(Float8, E5m2) {
  ExpectCodes<Float8E5m2>(0x7b);
  ExpectRandomFloats<Float8E5m2>(2);
  static_assert(Float8E5m2::FromFloat(57344.0f).bits == 0x7b);
  EXPECT_EQ(Float8E5m2::FromFloat(INFINITY).bits, 0x7b);
  EXPECT_EQ(Float8E5m2::FromFloat(-61441.0f).bits, 0xfb);
  EXPECT_EQ(Float8E5m2::FromFloat(-NAN).bits, 0x7f);
  EXPECT_TRUE(std::isinf(Float8E5m2::FromBits(0xfc).ToFloat()));
}

TEST(Tf32, ReadsTheUpperBitsAndRoundsToEven) {
  EXPECT_EQ(Tf32{0x1.006p0f}.ToFloat(), 0x1.004p0f);
  EXPECT_EQ(Tf32{-0x1.fffffep0f}.ToFloat(), -0x1.ffcp0f);
  EXPECT_EQ(Tf32::FromFloat(0x1.002p0f).stored, 1.0f);
  EXPECT_EQ(Tf32::FromFloat(0x1.006p0f).stored, 0x1.008p0f);
  EXPECT_EQ(Tf32::FromFloat(0x1.002002p0f).stored, 0x1.004p0f);
  EXPECT_EQ(Tf32::FromFloat(-0x1.ffffp127f).stored, -INFINITY);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(Tf32::FromFloat(-NAN).stored), 0x7fffe000u);
  std::mt19937 engine(3);
  for (int i = 0; i < 10000; ++i) {
    const float x =
        std::ldexp(static_cast<float>(engine() >> 8), static_cast<int>(engine() % 100) - 60);
    const float step = std::ldexp(1.0f, std::ilogb(x) - 10);  // between numbers of 10 bits
    if (x == 0) continue;
    ASSERT_EQ(Tf32{x}.ToFloat(), std::floor(x / step) * step);
    ASSERT_EQ(Tf32::FromFloat(x).stored, std::nearbyint(x / step) * step);
    ASSERT_EQ(Tf32::FromFloat(-x).ToFloat(), -Tf32::FromFloat(x).stored);
  }
}

}  // namespace
}  // namespace weft
