// The activations of epilogues/ a second time, from their definitions: the same bits by other means
// (products in double, nearbyint, ldexp, plain comparisons). For hosts.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace weft::reference {

inline float Polynomial(std::initializer_list<float> from_highest, float x) {
  float sum = 0.0f;
  for (const float c : from_highest) sum = std::fma(sum, x, c);
  return sum;
}

// 2^(x * y) = 2^n * 2^rest.
struct SplitProduct {
  float power;  // 2^n; 0 for 2^-127
  float rest;
};
inline SplitProduct SplitOf(float x, float y) {
  const double exponent = static_cast<double>(x) * y;  // exact, and so is its distance to n
  const double n = std::nearbyint(exponent);
  return {n <= -127.0 ? 0.0f : static_cast<float>(std::ldexp(1.0, static_cast<int>(n))),
          static_cast<float>(exponent - n)};
}
inline float PowerOf2(float rest) {
  return Polynomial(
      {0x1.5bba14p-10f, 0x1.3cea88p-7f, 0x1.c6b752p-5f, 0x1.ebf9bcp-3f, 0x1.62e42ap-1f, 1.0f},
      rest);
}
inline float Inverse(float d) {
  float r = std::bit_cast<float>(std::uint32_t{0x7ef311c0} - std::bit_cast<std::uint32_t>(d));
  const float e = std::fma(-d, r, 1.0f);
  r = std::fma(r, std::fma(e, e, e), r);
  return std::fma(std::fma(-d, r, 1.0f), r, r);
}
inline float LogisticOf(float x, float y) {
  const SplitProduct e = SplitOf(x, y);
  return Inverse(std::fma(PowerOf2(e.rest), e.power, 1.0f));
}
// NaN counts as the low end.
inline float Within(float x, float low, float high) {
  if (std::isnan(x) || x <= low) return low;
  return x >= high ? high : x;
}

struct LeakyReluActivation {
  float slope;
  float operator()(float x) const {
    if (x > 0.0f) return x;
    return slope * x;
  }
};
struct PReluActivation {
  const float* slope;  // one for each output channel
  float operator()(float x, std::int64_t k) const { return LeakyReluActivation{slope[k]}(x); }
};
struct ClampActivation {
  float low, high;
  float operator()(float x) const { return Within(x, low, high); }
};
struct Relu6Activation : ClampActivation {
  constexpr Relu6Activation() : ClampActivation{0.0f, 6.0f} {}
};
struct HSigmoidActivation {
  float operator()(float x) const {
    const float sixth = 1.0f / 6.0f;
    return Within(__builtin_fmaf(x, sixth, 0.5f), 0.0f, 1.0f);
  }
};
struct SigmoidActivation {
  float operator()(float x) const {
    return LogisticOf(Within(x, -87.0f, 87.0f), -1.44269502162933349609375f);
  }
};
struct SiluActivation {
  float operator()(float x) const {
    const float factor = SigmoidActivation()(x);
    return (x > -87.0f ? x : -87.0f) * factor;
  }
};
struct TanhActivation {
  float operator()(float x) const {
    x = Within(x, -10.0f, 10.0f);
    const SplitProduct e = SplitOf(std::fabs(x), -2.0f * 1.44269502162933349609375f);
    const float minus1 = Polynomial({0x1.4308fap-13f, 0x1.5f07b4p-10f, 0x1.3b2bap-7f,
                                     0x1.c6af6ep-5f, 0x1.ebfbdep-3f, 0x1.62e43p-1f},
                                    e.rest) *
                         e.rest;
    const float expm1 = std::fma(e.power, minus1, e.power - 1.0f);
    const float quotient = expm1 * Inverse(expm1 + 2.0f);
    return std::copysign(quotient, x);
  }
};
struct GeluActivation {
  float operator()(float x) const {
    const float m = Within(std::isnan(x) ? 8.0f : std::fabs(x), 0.0f, 8.0f);
    const float log2_of_phi =
        Polynomial({-0x1.4953dep-21f, 0x1.720f3p-17f, -0x1.634052p-15f, -0x1.0b396p-11f,
                    0x1.f16e3ep-8f, -0x1.b1529ap-5f, -0x1.d61402p-2f, -0x1.26b02p+0f, -1.0f},
                   m);
    const SplitProduct phi = SplitOf(log2_of_phi, 1.0f);
    const float part = m * phi.power;
    return std::fma(-part, PowerOf2(phi.rest), x > 0.0f ? x : 0.0f);
  }
};
struct GeluTanhActivation {
  float operator()(float x) const {
    constexpr float kEnd = 9.875f;
    const float in = Within(x, -kEnd, kEnd);
    const float square = in * in;
    const float y = std::fma(square, -0x1.a5a7dp-4f, -0x1.26aec2p+1f);
    return (x > -kEnd ? x : -kEnd) * LogisticOf(in, y);
  }
};

// The activation of real values that steps stand for, the least and the greatest of which are given.
template <class Activation>
struct OnStepsActivation {
  float scale;
  int least, greatest;
  Activation activation{};
  float operator()(float x) const {
    float steps = std::nearbyint(x);
    if (!(steps > static_cast<float>(least))) steps = static_cast<float>(least);
    if (steps > static_cast<float>(greatest)) steps = static_cast<float>(greatest);
    return activation(steps * scale);
  }
};

}  // namespace weft::reference
