// The 16-bit floating-point element types: storage and conversion, the same bits on both back ends.
//
// Neither type computes; values are converted to float first, which is exact. GPUs convert by the
// instructions for it where there are some, which give the same bits (but of NaNs as floats):
// tests/layouts/element/float16_test.cu has every number.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/layouts/base/compiler.hpp"

namespace weft {

namespace internal {

// The bits of x as binary16, rounded as Half::FromFloat says.
constexpr std::uint16_t HalfBits(float x) {
  const auto f = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>(f >> 16 & 0x8000);
  const std::uint32_t magnitude = f & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  if (magnitude >= 0x47800000) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) {
    // Below the least normal, 2^-14: multiples of 2^-24, by the adder's own rounding.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(
        sign | (std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f)));
  }
  const std::uint32_t odd = magnitude >> 13 & 1;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + odd) >> 13));
}
constexpr float HalfToFloat(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} << 16 & 0x80000000u;
  const std::uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000u | magnitude << 13);
  if (magnitude < 0x400) {
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}
// Likewise of Bfloat16.
constexpr std::uint16_t Bfloat16Bits(float x) {
  const auto f = std::bit_cast<std::uint32_t>(x);
  if ((f & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<std::uint16_t>((f + 0x7fff + (f >> 16 & 1)) >> 16);
}

}  // namespace internal

// IEEE binary16.
struct Half {
  std::uint16_t bits = 0;

  constexpr Half() = default;
  // The value, rounded as FromFloat says: Half(1.5f) is 1.5. Bits are FromBits's.
  explicit constexpr Half(float value) : bits(FromFloat(value).bits) {}
  explicit Half(std::integral auto) = delete;  // a value or bits? Say Half(1.0f) or FromBits(1)
  static constexpr Half FromBits(std::uint16_t encoding) {
    Half number;
    number.bits = encoding;
    return number;
  }

  // Rounds to nearest, halves to even; beyond 65504 to infinity; every NaN becomes 0x7fff.
  static constexpr Half FromFloat(float x) {
#if defined(__CUDA_ARCH__)
    if (!std::is_constant_evaluated()) {
      Half h;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
      return h;
    }
#endif
    return FromBits(internal::HalfBits(x));
  }

  constexpr float ToFloat() const {
#if defined(__CUDA_ARCH__)
    if (!std::is_constant_evaluated()) {
      float x;
      asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
      return x;
    }
#endif
    return internal::HalfToFloat(bits);
  }
  explicit constexpr operator float() const { return ToFloat(); }
  friend constexpr bool operator==(const Half&, const Half&) = default;  // compares bits
};

// The upper half of an IEEE binary32.
struct Bfloat16 {
  std::uint16_t bits = 0;

  constexpr Bfloat16() = default;
  // The value, rounded as FromFloat says: Bfloat16(1.5f) is 1.5. Bits are FromBits's.
  explicit constexpr Bfloat16(float value) : bits(FromFloat(value).bits) {}
  explicit Bfloat16(std::integral auto) =
      delete;  // a value or bits? Say Bfloat16(1.0f) or FromBits(1)
  static constexpr Bfloat16 FromBits(std::uint16_t encoding) {
    Bfloat16 number;
    number.bits = encoding;
    return number;
  }

  // Rounds to nearest, halves to even; every NaN becomes 0x7fff.
  static constexpr Bfloat16 FromFloat(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (!std::is_constant_evaluated()) {
      Bfloat16 h;
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
      return h;
    }
#endif
    return FromBits(internal::Bfloat16Bits(x));
  }

  constexpr float ToFloat() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  explicit constexpr operator float() const { return ToFloat(); }
  friend constexpr bool operator==(const Bfloat16&, const Bfloat16&) = default;  // compares bits
};

}  // namespace weft
