// The true functions behind the activations of exp_activations.hpp and the hard ones, in double, and how far each
// may be from them: the numbers of epilogues/README.md. For both back ends. kLeast is no greater than any value, and
// kGreatest no less, where there is a greatest.
#pragma once

#include <math.h>  // NOLINT: the functions of CUDA's device code are the global ones

#include <cstdint>

#include "weft/epilogues/exp_activations.hpp"
#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::epilogues {

// absolute: of max(1, |f|). ulp: in units of f's last place, where |f| >= 2^-20; 0 is no bound.
struct Bound {
  double absolute;
  double ulp;
};

inline constexpr double kNoGreatest = 1e300;

inline namespace WEFT_BACKEND {

struct TrueHSigmoid {
  using Activation = HSigmoid;
  static constexpr Bound kBound = {4.5e-8, 0.0};
  static constexpr double kLeast = 0.0, kGreatest = 1.0;
  WEFT_DEVICE static double At(double x) {
    return x <= -3.0 ? 0.0 : x >= 3.0 ? 1.0 : (x + 3.0) / 6.0;
  }
};
struct TrueHSwish {
  using Activation = HSwish;
  static constexpr Bound kBound = {1.6e-7, 0.0};
  static constexpr double kLeast = -0.375, kGreatest = kNoGreatest;
  WEFT_DEVICE static double At(double x) { return x * TrueHSigmoid::At(x); }
};
struct TrueSigmoid {
  using Activation = Sigmoid;
  static constexpr Bound kBound = {1.1e-7, 5.5};
  static constexpr double kLeast = 0.0, kGreatest = 1.0;
  WEFT_DEVICE static double At(double x) { return 1.0 / (1.0 + exp(-x)); }
};
struct TrueSilu {
  using Activation = Silu;
  static constexpr Bound kBound = {1.7e-7, 7.0};
  static constexpr double kLeast = -0.2784646, kGreatest = kNoGreatest;
  WEFT_DEVICE static double At(double x) { return x / (1.0 + exp(-x)); }
};
struct TrueTanh {
  using Activation = Tanh;
  static constexpr Bound kBound = {1.8e-7, 4.5};
  static constexpr double kLeast = -1.0, kGreatest = 1.0;
  WEFT_DEVICE static double At(double x) { return tanh(x); }
};
struct TrueGelu {
  using Activation = Gelu;
  static constexpr Bound kBound = {1.1e-7, 0.0};
  static constexpr double kLeast = -0.1699713, kGreatest = kNoGreatest;
  WEFT_DEVICE static double At(double x) {
    constexpr double kRootOfHalf = 0.70710678118654752440;
    return 0.5 * x * erfc(-kRootOfHalf * x);
  }
};
struct TrueGeluTanh {
  using Activation = GeluTanh;
  static constexpr Bound kBound = {1.7e-7, 20.0};
  static constexpr double kLeast = -0.1700408, kGreatest = kNoGreatest;
  WEFT_DEVICE static double At(double x) {
    constexpr double kTwiceRootOf2OverPi = 1.59576912160573071176;
    return x / (1.0 + exp(-kTwiceRootOf2OverPi * (x + 0.044715 * x * x * x)));
  }
};

// The greatest errors seen.
struct Errors {
  double absolute = 0.0;
  double ulp = 0.0;

  // Of the result y where f is `truth`, both finite. NaN counts as an error without bound.
  WEFT_DEVICE void Add(float y, double truth) {
    const double magnitude = fabs(truth);
    const double error = fabs(static_cast<double>(y) - truth);
    const double relative = magnitude > 1.0 ? error / magnitude : error;
    if (!(relative <= absolute)) absolute = relative == relative ? relative : HUGE_VAL;
    if (magnitude >= 0x1p-20) {
      const double of_ulp = error / ldexp(1.0, ilogb(magnitude) - 23);
      if (!(of_ulp <= ulp)) ulp = of_ulp == of_ulp ? of_ulp : HUGE_VAL;
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::epilogues
