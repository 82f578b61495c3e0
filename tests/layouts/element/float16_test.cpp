#include "weft/layouts/element/float16.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>

#include "weft/layouts/element/float8.hpp"
#include "weft/layouts/element/tf32.hpp"

namespace weft {
namespace {

// Every finite value comes back, and the midpoint between it and the next rounds to the even one.
template <class T>
void ExpectRoundTrips(int largest) {
  for (int bits = 0; bits <= largest; ++bits) {
    const T low = T::FromBits(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(T::FromFloat(low.ToFloat()), low);
    const T negative = T::FromBits(static_cast<std::uint16_t>(bits | 0x8000));
    ASSERT_EQ(T::FromFloat(negative.ToFloat()), negative);
    if (bits == largest) break;
    const T high = T::FromBits(static_cast<std::uint16_t>(bits + 1));
    const float middle = (low.ToFloat() + high.ToFloat()) / 2;
    ASSERT_EQ(T::FromFloat(middle), bits % 2 == 0 ? low : high) << bits;
    ASSERT_EQ(T::FromFloat(std::nextafter(middle, 0.0f)), low) << bits;
    ASSERT_EQ(T::FromFloat(std::nextafter(middle, INFINITY)), high) << bits;
  }
}

TEST(Float16, HalfRoundTripsAndRoundsToEven) {
  ExpectRoundTrips<Half>(0x7bff);
  EXPECT_EQ(Half::FromBits(0x3c00).ToFloat(), 1.0f);
  EXPECT_EQ(Half::FromBits(0x0001).ToFloat(), 0x1p-24f);
  EXPECT_EQ(Half::FromBits(0xc000).ToFloat(), -2.0f);
  EXPECT_EQ(Half::FromFloat(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Half::FromFloat(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half::FromFloat(-1e30f).bits, 0xfc00);
  EXPECT_EQ(Half::FromFloat(NAN).bits, 0x7fff);
  EXPECT_TRUE(std::isinf(Half::FromBits(0x7c00).ToFloat()));
  EXPECT_TRUE(std::isnan(Half::FromBits(0x7c01).ToFloat()));
}

TEST(Float16, Bfloat16RoundTripsAndRoundsToEven) {
  // Up to half the largest: the midpoint above is computed by an addition.
  ExpectRoundTrips<Bfloat16>(0x7eff);
  EXPECT_EQ(Bfloat16::FromBits(0x3f80).ToFloat(), 1.0f);
  EXPECT_EQ(Bfloat16::FromFloat(NAN).bits, 0x7fff);
  EXPECT_EQ(Bfloat16::FromFloat(INFINITY).bits, 0x7f80);
}

// An explicit conversion is ToFloat; there is no silent one.
template <class T>
void ExpectConverts() {
  static_assert(static_cast<float>(T::FromFloat(1.5f)) == 1.5f && !std::is_convertible_v<T, float>);
  EXPECT_EQ(float(T::FromFloat(-0.375f)), T::FromFloat(-0.375f).ToFloat());
}

TEST(ShortFloats, ConvertToFloatWhereItIsWritten) {
  ExpectConverts<Half>();
  ExpectConverts<Bfloat16>();
  ExpectConverts<Float8E4m3>();
  ExpectConverts<Float8E5m2>();
  ExpectConverts<Tf32>();
}

}  // namespace
}  // namespace weft
