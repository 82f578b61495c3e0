// What NVRTC lacks of the compiler, included before everything else: g++'s builtins by which the
// headers reach arithmetic in functions that are constexpr. Where the compiler evaluates them they
// give what the GPU's instructions give.
#pragma once

#define __builtin_fmaf(a, b, c) ::weft_rtc::Fma(a, b, c)
#define __builtin_fma(a, b, c) ::weft_rtc::Fma(a, b, c)
#define __builtin_fmaxf(a, b) ::weft_rtc::Max(a, b)
#define __builtin_fminf(a, b) ::weft_rtc::Min(a, b)
#define __builtin_memcpy memcpy
// A member's offset as NVRTC's front end knows it: it has the builtin for plain members alone.
#define __builtin_offsetof(type, member) __INTADDR__(&((type*)0)->member)

namespace weft_rtc {

using Bits = unsigned long long;

// x + y, rounded to the number whose last bit is 1 where the sum is not exact. What is rounded again,
// to fewer bits, is then what rounding once gives. The sum is finite.
constexpr double AddToOdd(double x, double y) {
  const double sum = x + y;
  const double of_y = sum - x;
  const double error = (x - (sum - of_y)) + (y - of_y);
  const Bits bits = __builtin_bit_cast(Bits, sum);
  if (error == 0.0 || (bits & 1) != 0) return sum;
  const bool grows = (error > 0.0) == (sum > 0.0);
  return __builtin_bit_cast(double, grows ? bits + 1 : bits - 1);
}

constexpr bool IsFinite(double x) {
  return x - x == 0.0;
}

constexpr float Fma(float a, float b, float c) {
  if (!__builtin_is_constant_evaluated()) return ::fmaf(a, b, c);
  const double product = static_cast<double>(a) * b;  // exact
  const double sum = product + c;
  if (!IsFinite(sum)) return static_cast<float>(sum);
  return static_cast<float>(AddToOdd(product, c));
}

// The half of x with the upper bits; x less it is exact.
constexpr double UpperHalf(double x) {
  return __builtin_bit_cast(double, __builtin_bit_cast(Bits, x) & ~((Bits{1} << 27) - 1));
}

// Rounded once unless parts of the product are too large or too small for a double.
constexpr double Fma(double a, double b, double c) {
  if (!__builtin_is_constant_evaluated()) return ::fma(a, b, c);
  const double product = a * b;
  if (!IsFinite(product) || !IsFinite(product + c)) return product + c;
  const double a_upper = UpperHalf(a), a_lower = a - a_upper;
  const double b_upper = UpperHalf(b), b_lower = b - b_upper;
  const double rest =
      ((a_upper * b_upper - product) + a_upper * b_lower + a_lower * b_upper) + a_lower * b_lower;
  const double sum = product + c;
  const double of_c = sum - product;
  const double error = (product - (sum - of_c)) + (c - of_c);
  return sum + AddToOdd(error, rest);
}

constexpr float Max(float a, float b) {
  if (!__builtin_is_constant_evaluated()) return ::fmaxf(a, b);
  return a > b || b != b ? a : b;
}
constexpr float Min(float a, float b) {
  if (!__builtin_is_constant_evaluated()) return ::fminf(a, b);
  return a < b || b != b ? a : b;
}

}  // namespace weft_rtc
