// The float operations of the numerics contract. Each is one correctly rounded IEEE operation on
// both back ends whatever the compiler flags: a product or a sum is written as an fma, which no
// compiler fuses with a neighbour.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/layouts/element/complex.hpp"

namespace weft::epilogues {

// a * b + c with one rounding.
constexpr float Fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

// The same for doubles; for complex numbers it is weft::MulAdd.
constexpr double MulAdd(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
using weft::MulAdd;

// a * b. Adding -0 changes no product, the signs of zeros included.
constexpr float Mul(float a, float b) {
  return Fma(a, b, -0.0f);
}

// a + b.
constexpr float Add(float a, float b) {
  return Fma(a, 1.0f, b);
}

// x limited to [low, high]; NaN gives `low`.
constexpr float Clamp(float x, float low, float high) {
  const float raised = x > low ? x : low;
  return raised < high ? raised : high;
}

// a * b + c with one rounding, limited to [0, 1]; NaN gives 0, and a zero result is +0. GPUs have
// one instruction for it.
constexpr float FmaSaturated(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  if (!std::is_constant_evaluated()) {
    float limited;
    asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(limited) : "f"(a), "f"(b), "f"(c));
    return limited;
  }
#endif
  return Clamp(Fma(a, b, c), 0.0f, 1.0f);
}

// Clamp for limits that the compiler does not know, for which Clamp takes four instructions, as a
// limit may be NaN or -0. Here a limit that is NaN does not limit, and a zero result is +0. fmaxf
// differs between CPUs and GPUs for -0 and signaling NaNs; adding +0 first leaves neither to
// compare.
constexpr float Limit(float x, float low, float high) {
  return __builtin_fminf(__builtin_fmaxf(Add(x, 0.0f), Add(low, 0.0f)), Add(high, 0.0f));
}

// x, with |x| <= 2^22, rounded to the nearest integer, halves to the even one. In the binade that
// starts at 1.5 * 2^23 the spacing of floats is one, so the sum is the rounded value and its low
// mantissa bits are that integer in two's complement.
constexpr std::int32_t RoundHalfEvenSmall(float x) {
  constexpr float kMagic = 12582912.0f;
  return std::bit_cast<std::int32_t>(x + kMagic) - std::bit_cast<std::int32_t>(kMagic);
}

// Any x rounded to the nearest integer, halves to the even one, saturating; NaN gives 0.
constexpr std::int32_t RoundHalfEven(float x) {
  constexpr float kWhole = 8388608.0f;  // 2^23: floats from there on are integers
  constexpr float kEnd = 2147483648.0f;
  float integer = x;
  if (x > -kWhole && x < kWhole) {
    const float magnitude = x < 0.0f ? -x : x;
    const float shifted = magnitude + kWhole;
    const float rounded = shifted - kWhole;
    integer = x < 0.0f ? -rounded : rounded;
  }
  if (integer >= kEnd) return (std::numeric_limits<std::int32_t>::max)();
  if (integer < -kEnd) return (std::numeric_limits<std::int32_t>::min)();
  return integer == integer ? static_cast<std::int32_t>(integer) : 0;
}

// Where a value halfway between two integers goes: to the even one, to the one farther from 0, or
// to the greater one.
enum class Rounding { kHalfEven, kHalfAway, kHalfUp };

// x, with |x| <= 2^22, rounded to the nearest integer. NaN stays NaN; a greater |x| becomes an
// integer near x, or infinity.
template <Rounding kRounding>
constexpr float RoundSmall(float x) {
  constexpr float kMagic = 12582912.0f;  // as in RoundHalfEvenSmall
  const float shifted = x + kMagic;
  const float even = shifted - kMagic;
  if constexpr (kRounding == Rounding::kHalfEven) return even;
  const float above = x - even;  // exact; 1/2 where x is a tie and the even integer the lower one
  if constexpr (kRounding == Rounding::kHalfUp) return above == 0.5f ? even + 1.0f : even;
  const bool away = x < 0.0f ? above == -0.5f : above == 0.5f;
  return away ? even + above + above : even;
}

}  // namespace weft::epilogues
