// The 8-bit floating-point element types: storage and conversion, the same bits on both back ends.
//
// Neither type computes; values are converted to float first, which is exact. Conversions from float
// round to nearest, halves to even, and saturate as cvt.rn.satfinite does: whatever exceeds the largest
// finite number, infinities too, becomes that number. Every NaN becomes 0x7f.
#pragma once

#include <bit>
#include <cstdint>

#include "weft/layouts/element/float16.hpp"

namespace weft {
namespace internal {

// A float as a sign and a magnitude of 7 bits, kMantissa of them behind the point, whose exponents are
// kBias too large and whose largest finite number is kLargest.
template <int kMantissa, int kBias, std::uint8_t kLargest>
constexpr std::uint8_t ToEightBits(float x) {
  const auto f = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint8_t>(f >> 24 & 0x80);
  const std::uint32_t magnitude = f & 0x7fffffff;
  constexpr int kDropped = 23 - kMantissa;
  constexpr std::uint32_t kOffset = std::uint32_t{127 - kBias} << 23;
  if (magnitude > 0x7f800000) return 0x7f;
  if (magnitude >= (std::uint32_t{kLargest} << kDropped) + kOffset) return sign | kLargest;
  std::uint32_t code = 0;
  if (magnitude < kOffset + (1u << 23)) {
    // Below the least normal: multiples of the least number, by the adder's own rounding. A sum with
    // `one` has that for its last place.
    constexpr float one = std::bit_cast<float>(kOffset + (std::uint32_t{1 + kDropped} << 23));
    const float shifted = std::bit_cast<float>(magnitude) + one;
    code = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(one);
  } else {
    const std::uint32_t odd = magnitude >> kDropped & 1;
    code = (magnitude - kOffset + (1u << (kDropped - 1)) - 1 + odd) >> kDropped;
  }
  return static_cast<std::uint8_t>(sign | code);
}

}  // namespace internal

// 4 bits of exponent, 3 of mantissa: up to 448, in steps of 2^-9 below 2^-6. 0x7f and 0xff are NaN, and
// there is no infinity.
struct Float8E4m3 {
  std::uint8_t bits = 0;

  constexpr Float8E4m3() = default;
  // The value, rounded as FromFloat says. Bits are FromBits's.
  explicit constexpr Float8E4m3(float value) : bits(FromFloat(value).bits) {}
  explicit Float8E4m3(std::integral auto) =
      delete;  // a value or bits? Say Float8E4m3(1.0f) or FromBits(1)
  static constexpr Float8E4m3 FromBits(std::uint8_t encoding) {
    Float8E4m3 number;
    number.bits = encoding;
    return number;
  }

  static constexpr Float8E4m3 FromFloat(float x) {
    return FromBits(internal::ToEightBits<3, 7, 0x7e>(x));
  }

  constexpr float ToFloat() const {
    const std::uint32_t sign = std::uint32_t{bits} << 24 & 0x80000000u;
    const std::uint32_t magnitude = bits & 0x7fu;
    if (magnitude == 0x7f) return std::bit_cast<float>(sign | 0x7ff00000u);
    if (magnitude < 0x08) {
      const float value = static_cast<float>(magnitude) * 0x1p-9f;
      return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
    }
    return std::bit_cast<float>(sign | ((magnitude << 20) + 0x3c000000u));
  }
  explicit constexpr operator float() const { return ToFloat(); }
  friend constexpr bool operator==(const Float8E4m3&,
                                   const Float8E4m3&) = default;  // compares bits
};

// 5 bits of exponent, 2 of mantissa, the upper half of an IEEE binary16: up to 57344, in steps of 2^-16
// below 2^-14. 0x7c and 0xfc are infinities, which no conversion gives; 0x7d to 0x7f and 0xfd to 0xff
// are NaN.
struct Float8E5m2 {
  std::uint8_t bits = 0;

  constexpr Float8E5m2() = default;
  // The value, rounded as FromFloat says. Bits are FromBits's.
  explicit constexpr Float8E5m2(float value) : bits(FromFloat(value).bits) {}
  explicit Float8E5m2(std::integral auto) =
      delete;  // a value or bits? Say Float8E5m2(1.0f) or FromBits(1)
  static constexpr Float8E5m2 FromBits(std::uint8_t encoding) {
    Float8E5m2 number;
    number.bits = encoding;
    return number;
  }

  static constexpr Float8E5m2 FromFloat(float x) {
    return FromBits(internal::ToEightBits<2, 15, 0x7b>(x));
  }

  constexpr float ToFloat() const {
    return Half::FromBits(static_cast<std::uint16_t>(bits << 8)).ToFloat();
  }
  explicit constexpr operator float() const { return ToFloat(); }
  friend constexpr bool operator==(const Float8E5m2&,
                                   const Float8E5m2&) = default;  // compares bits
};

}  // namespace weft
