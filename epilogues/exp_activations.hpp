// Activations made of exponentials. They are meant for real values, in a quantised layer between
// Scale and OutputScale.
//
// They are polynomials of Fma, Add and Mul, so that both back ends and the host agree to the bit;
// the coefficients come from tests/epilogues/coefficients.py. Each says how far it may be from the
// true function f, which tests/epilogues/activations_test checks for every float: the distance
// relative to max(1, |f|), and in ulp of f (the gap between floats there) where |f| is at least
// 2^-20.
//
// NaN counts as -infinity. Where the true function goes on towards 0, these stop at a number near 0
// that is not subnormal.
#pragma once

#include <bit>
#include <cstdint>

#include "weft/epilogues/activations.hpp"
#include "weft/epilogues/numerics.hpp"

namespace weft::epilogues {

namespace internal {

// 2^e as scale * 2^rest: scale = 2^n for e's nearest integer n, and rest = e - n is within 1/2 of
// 0.
struct SplitPower {
  float scale;  // 2^n
  float rest;
};

// Splits e = x * y, -127 <= e <= 127; 2^-127 counts as 0.
constexpr SplitPower Split(float x, float y) {
  // Floats of this binade are one apart, and the low bits of kMagic + n are n + 127, a float's
  // exponent.
  constexpr float kMagic = 12582912.0f + 127.0f;
  const float shifted = Fma(x, y, kMagic);
  const float n = shifted - kMagic;
  return {std::bit_cast<float>(std::bit_cast<std::uint32_t>(shifted) << 23), Fma(x, y, -n)};
}

// 2^r, |r| <= 1/2, within 9.2e-8 of it; 1 at 0.
constexpr float Power(float r) {
  float p = 0x1.5bba14p-10f;
  p = Fma(p, r, 0x1.3cea88p-7f);
  p = Fma(p, r, 0x1.c6b752p-5f);
  p = Fma(p, r, 0x1.ebf9bcp-3f);
  p = Fma(p, r, 0x1.62e42ap-1f);
  return Fma(p, r, 1.0f);
}

// 2^r - 1, |r| <= 1/2, within 1.1e-8 of it.
constexpr float PowerMinus1(float r) {
  float p = 0x1.4308fap-13f;
  p = Fma(p, r, 0x1.5f07b4p-10f);
  p = Fma(p, r, 0x1.3b2bap-7f);
  p = Fma(p, r, 0x1.c6af6ep-5f);
  p = Fma(p, r, 0x1.ebfbdep-3f);
  p = Fma(p, r, 0x1.62e43p-1f);
  return Mul(p, r);
}

// 1 / d, 1 <= d < 2^126, within 1.3 * 2^-24 of it; 1 at 1. A division would be longer, and depend
// on the compiler's flags. The first guess, a difference of the bits, is within 5.1% of it; a step
// of third order and one of second order follow.
constexpr float Reciprocal(float d) {
  const float guess = std::bit_cast<float>(0x7ef311c0u - std::bit_cast<std::uint32_t>(d));
  const float error = Fma(-d, guess, 1.0f);
  const float better = Fma(guess, Fma(error, error, error), guess);
  return Fma(Fma(-d, better, 1.0f), better, better);
}

// 1 / (1 + 2^(x y)).
constexpr float Logistic(float x, float y) {
  const SplitPower e = Split(x, y);
  return Reciprocal(Fma(Power(e.rest), e.scale, 1.0f));
}

inline constexpr float kLog2E = 0x1.715476p+0f;

}  // namespace internal

// 1 / (1 + exp(-x)), within 1.1e-7, 5.5 ulp. It goes from 1.6e-38 to 1 and is 1/2 at 0. From a
// float to the next one it may fall by 2 ulp.
struct Sigmoid : OfRealValues {
  constexpr float operator()(float x) const {
    return internal::Logistic(Clamp(x, -87.0f, 87.0f), -internal::kLog2E);
  }
};

// x / (1 + exp(-x)), also called swish, within 1.7e-7, 7 ulp.
struct Silu : OfRealValues {
  constexpr float operator()(float x) const {
    const float raised = x > -87.0f ? x : -87.0f;
    const float limited = raised < 87.0f ? raised : 87.0f;
    return Mul(raised, internal::Logistic(limited, -internal::kLog2E));
  }
};

// tanh(x), within 1.8e-7, 4.5 ulp. It is odd, and -1 or 1 where |x| is 9.02 or more. From a float
// to the next one it may fall by 3 ulp.
struct Tanh : OfRealValues {
  constexpr float operator()(float x) const {
    // With m = |x| and e = exp(-2 m) - 1, which is exact near 0, the result is -e / (e + 2).
    const float limited = Clamp(x, -10.0f, 10.0f);
    const float m = limited < 0.0f ? -limited : limited;
    const internal::SplitPower power = internal::Split(m, -2.0f * internal::kLog2E);
    const float less = power.scale - 1.0f;
    const float e = Fma(power.scale, internal::PowerMinus1(power.rest), less);
    const float result = Mul(e, internal::Reciprocal(e + 2.0f));
    constexpr std::uint32_t kSign = 0x80000000u;
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(result) & ~kSign) |
                                (std::bit_cast<std::uint32_t>(limited) & kSign));
  }
};

// x Phi(x), where Phi is the normal distribution's: x (1 + erf(x / sqrt(2))) / 2, within 1.1e-7.
// Results near 0 for negative x have fewer right digits (2 at -1e-5).
struct Gelu : OfRealValues {
  constexpr float operator()(float x) const {
    // Computed as max(x, 0) - |x| Phi(-|x|). Phi(-m) is 2^h(m) with a polynomial h, up to m = 8:
    // Phi(-8) is 6e-16.
    const float magnitude = x < 0.0f ? -x : x;
    const float m = magnitude < 8.0f ? magnitude : 8.0f;
    float h = -0x1.4953dep-21f;
    h = Fma(h, m, 0x1.720f3p-17f);
    h = Fma(h, m, -0x1.634052p-15f);
    h = Fma(h, m, -0x1.0b396p-11f);
    h = Fma(h, m, 0x1.f16e3ep-8f);
    h = Fma(h, m, -0x1.b1529ap-5f);
    h = Fma(h, m, -0x1.d61402p-2f);
    h = Fma(h, m, -0x1.26b02p+0f);
    h = Fma(h, m, -1.0f);
    const internal::SplitPower phi = internal::Split(h, 1.0f);
    return Fma(-Mul(m, phi.scale), internal::Power(phi.rest), Relu{}(x));
  }
};

// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, which is x / (1 + exp(-2 ...)); within 1.7e-7,
// 20 ulp.
struct GeluTanh : OfRealValues {
  constexpr float operator()(float x) const {
    constexpr float kLinear = -0x1.26aec2p+1f, kCubic = -0x1.a5a7dp-4f;
    const float raised = x > -9.875f ? x : -9.875f;
    const float limited = raised < 9.875f ? raised : 9.875f;
    const float y = Fma(Mul(limited, limited), kCubic, kLinear);
    return Mul(raised, internal::Logistic(limited, y));
  }
};

}  // namespace weft::epilogues
