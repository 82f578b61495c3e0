// Complex numbers as elements of products.
#pragma once

#include <type_traits>

#include "weft/layouts/base/compiler.hpp"

namespace weft {

// The bytes of std::complex<Type>, Type = float or double, aligned to both parts at once.
template <class Type>
struct alignas(2 * sizeof(Type)) Complex {
  static_assert(std::is_same_v<Type, float> || std::is_same_v<Type, double>,
                "weft: Complex<T> takes T = float or double");
  Type re, im;
  Complex() = default;  // as a Type's: without a value
  constexpr Complex(Type real, Type imaginary = 0)
      : re(real), im(imaginary) {}  // NOLINT(runtime/explicit): as a Type is one
  constexpr Complex& operator+=(const Complex& other) {
    re += other.re, im += other.im;
    return *this;
  }
  friend constexpr bool operator==(const Complex&, const Complex&) = default;
};

template <class Type>
inline constexpr bool kIsComplex = false;
template <class Type>
inline constexpr bool kIsComplex<Complex<Type>> = true;

// a * b + c: each part is two fmas, the one with a's real part first.
template <class Type>
constexpr Complex<Type> MulAdd(const Complex<Type>& a, const Complex<Type>& b,
                               const Complex<Type>& c) {
  if constexpr (std::is_same_v<Type, float>) {
    return {__builtin_fmaf(-a.im, b.im, __builtin_fmaf(a.re, b.re, c.re)),
            __builtin_fmaf(a.im, b.re, __builtin_fmaf(a.re, b.im, c.im))};
  } else {
    return {__builtin_fma(-a.im, b.im, __builtin_fma(a.re, b.re, c.re)),
            __builtin_fma(a.im, b.re, __builtin_fma(a.re, b.im, c.im))};
  }
}

// What epilogues compute in their own type, not in float.
template <class Type>
inline constexpr bool kOwnArithmetic = std::is_same_v<Type, double> || kIsComplex<Type>;

}  // namespace weft
