// The rows of epilogues/activations.def as types, with their true functions in double. For both back ends.
#pragma once

#include <math.h>  // NOLINT: the functions of CUDA's device code are the global ones

#include <cstdint>

#include "weft/epilogues/exp_activations.hpp"
#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::epilogues {

// What stands in the table for a bound that an activation does not have.
inline constexpr double kNoBound = 1e300;
// What an activation makes of NaN: what it makes of -infinity, or NaN.
enum class OfNan { kNanIsLow, kNanStays };

inline namespace WEFT_BACKEND {

// TrueSilu and so on.
#define WEFT_ACTIVATION(functor, chain, reference, of_x, absolute, ulp, least, greatest, nan, \
                        onnx)                                                                 \
  struct True##functor {                                                                      \
    using Activation = functor;                                                               \
    static constexpr double kAbsolute = absolute, kUlp = ulp;                                 \
    static constexpr double kLeast = least, kGreatest = greatest;                             \
    static constexpr OfNan kOfNan = OfNan::nan;                                               \
    WEFT_DEVICE static double At(double x) { return of_x; }                                   \
  };
#include "weft/epilogues/activations.def"

// List<TrueHSwish, ...> of all rows, as ActivationRows<testing::Types>::All.
template <template <class...> class List>
struct ActivationRows {
  template <class None, class... Rows>
  struct Of {
    using type = List<Rows...>;
  };
  using All = typename Of<void
#define WEFT_ACTIVATION(functor, ...) , True##functor
#include "weft/epilogues/activations.def"
                          >::type;
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
