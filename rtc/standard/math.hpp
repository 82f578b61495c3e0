// <cmath>, as far as functors may use it on both back ends: functions whose results the standard defines
// to the bit. Where the compiler evaluates them they give what the GPU's instructions give.
#pragma once

#include "weft/rtc/standard/builtins.hpp"

namespace weft_rtc {

constexpr float WithSignOf(float magnitude, float x) {
  return __builtin_bit_cast(float, (__builtin_bit_cast(unsigned, magnitude) & 0x7fffffffu) |
                                       (__builtin_bit_cast(unsigned, x) & 0x80000000u));
}
constexpr float Magnitude(float x) {
  return WithSignOf(x, 0.0f);
}

// Whether x is so large that it is an integer, or no number.
constexpr bool IsWhole(float x) {
  return !(Magnitude(x) < 0x1p23f);
}
constexpr float Truncate(float x) {
  return IsWhole(x) ? x : WithSignOf(static_cast<float>(static_cast<int>(x)), x);
}
constexpr float Floor(float x) {
  const float whole = Truncate(x);
  return whole > x ? whole - 1.0f : whole;
}
constexpr float RoundHalfAway(float x) {
  if (IsWhole(x)) return x;
  const float magnitude = Magnitude(x), whole = Truncate(magnitude);
  return WithSignOf(magnitude - whole >= 0.5f ? whole + 1.0f : whole, x);
}
// Newton's steps in double end next to the root, which for a float is never that close to the middle of
// two floats.
constexpr float SquareRoot(float x) {
  if (!(x > 0.0f) || !IsFinite(x)) return x < 0.0f ? __builtin_bit_cast(float, 0xffc00000u) : x;
  const double value = x;
  double root = __builtin_bit_cast(double, (__builtin_bit_cast(Bits, value) + (1023ull << 52)) / 2);
  for (int i = 0; i < 6; ++i) root = 0.5 * (root + value / root);
  return static_cast<float>(root);
}

}  // namespace weft_rtc

namespace std {

constexpr float abs(float x) {
  return weft_rtc::Magnitude(x);
}
constexpr float fabs(float x) {
  return weft_rtc::Magnitude(x);
}
constexpr int abs(int x) {
  return x < 0 ? -x : x;
}
constexpr double abs(double x) {
  return __builtin_bit_cast(double, __builtin_bit_cast(weft_rtc::Bits, x) << 1 >> 1);
}
constexpr double fabs(double x) {
  return abs(x);
}
constexpr float copysign(float magnitude, float x) {
  return weft_rtc::WithSignOf(magnitude, x);
}
constexpr bool signbit(float x) {
  return (__builtin_bit_cast(unsigned, x) >> 31) != 0;
}
constexpr bool isnan(float x) {
  return x != x;
}
constexpr bool isfinite(float x) {
  return x - x == 0.0f;
}
constexpr bool isinf(float x) {
  return !isnan(x) && !isfinite(x);
}
constexpr float fma(float a, float b, float c) {
  return weft_rtc::Fma(a, b, c);
}
constexpr double fma(double a, double b, double c) {
  return weft_rtc::Fma(a, b, c);
}
constexpr float trunc(float x) {
  return __builtin_is_constant_evaluated() ? weft_rtc::Truncate(x) : ::truncf(x);
}
constexpr float floor(float x) {
  return __builtin_is_constant_evaluated() ? weft_rtc::Floor(x) : ::floorf(x);
}
constexpr float ceil(float x) {
  return __builtin_is_constant_evaluated() ? -weft_rtc::Floor(-x) : ::ceilf(x);
}
constexpr float round(float x) {
  return __builtin_is_constant_evaluated() ? weft_rtc::RoundHalfAway(x) : ::roundf(x);
}
constexpr float sqrt(float x) {
  return __builtin_is_constant_evaluated() ? weft_rtc::SquareRoot(x) : ::sqrtf(x);
}

}  // namespace std
