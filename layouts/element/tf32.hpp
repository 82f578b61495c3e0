// Floats as tensor cores multiply them: of the 23 bits of mantissa the upper 10 count.
#pragma once

#include <bit>
#include <cstdint>

#include "weft/layouts/base/compiler.hpp"

namespace weft {

// An element type of products whose operands are plain floats in memory. Naming it accepts that each is
// read without its lower 13 bits, that is truncated towards zero; products of two are exact.
struct Tf32 {
  float stored = 0.0f;

  // What a product reads of it.
  constexpr float ToFloat() const {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(stored) & ~std::uint32_t{0x1fff});
  }
  explicit constexpr operator float() const { return ToFloat(); }
  // x rounded to nearest, halves to even, beyond the largest to infinity; half the error of leaving
  // it as it is. Every NaN becomes 0x7fffe000.
  static constexpr Tf32 FromFloat(float x) {
    const auto f = std::bit_cast<std::uint32_t>(x);
    if ((f & 0x7fffffff) > 0x7f800000) return {std::bit_cast<float>(0x7fffe000u)};
    return {Tf32{std::bit_cast<float>(f + 0xfff + (f >> 13 & 1))}.ToFloat()};
  }
  friend constexpr bool operator==(const Tf32&, const Tf32&) = default;  // compares values
};

}  // namespace weft
