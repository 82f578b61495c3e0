// The float operations of the numerics contract. Each is one correctly rounded IEEE operation on
// both back ends whatever the compiler flags: a product or a sum is written as an fma, which no
// compiler fuses with a neighbour.
#pragma once

#include <bit>
#include <cstdint>

namespace weft::epilogues {

// a * b + c with one rounding.
constexpr float Fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

// a * b. Adding -0 changes no product, the signs of zeros included.
constexpr float Mul(float a, float b) {
  return Fma(a, b, -0.0f);
}

// a + b.
constexpr float Add(float a, float b) {
  return Fma(a, 1.0f, b);
}

// NaN gives `low`.
constexpr float Clamp(float x, float low, float high) {
  const float raised = x > low ? x : low;
  return raised < high ? raised : high;
}

// x, with |x| <= 2^22, rounded to the nearest integer, halves to the even one. In the binade that
// starts at 1.5 * 2^23 the spacing of floats is one, so the sum is the rounded value and its low
// mantissa bits are that integer in two's complement.
constexpr std::int32_t RoundHalfEvenSmall(float x) {
  constexpr float kMagic = 12582912.0f;
  return std::bit_cast<std::int32_t>(x + kMagic) - std::bit_cast<std::int32_t>(kMagic);
}

}  // namespace weft::epilogues
