// Complex numbers as elements of products.
#pragma once

#include <type_traits>

namespace weft {

// The bytes of std::complex<T>, T = float or double, aligned to both parts at once.
template <class T>
struct alignas(2 * sizeof(T)) Complex {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "weft: Complex<T> takes T = float or double");
  T re, im;
  Complex() = default;                                   // as a T's: without a value
  constexpr Complex(T re, T im = 0) : re(re), im(im) {}  // NOLINT(runtime/explicit): as a T is one
  constexpr Complex& operator+=(const Complex& other) {
    re += other.re, im += other.im;
    return *this;
  }
  friend constexpr bool operator==(const Complex&, const Complex&) = default;
};

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<Complex<T>> = true;

// a * b + c: each part is two fmas, the one with a's real part first.
template <class T>
constexpr Complex<T> MulAdd(const Complex<T>& a, const Complex<T>& b, const Complex<T>& c) {
  if constexpr (std::is_same_v<T, float>) {
    return {__builtin_fmaf(-a.im, b.im, __builtin_fmaf(a.re, b.re, c.re)),
            __builtin_fmaf(a.im, b.re, __builtin_fmaf(a.re, b.im, c.im))};
  } else {
    return {__builtin_fma(-a.im, b.im, __builtin_fma(a.re, b.re, c.re)),
            __builtin_fma(a.im, b.re, __builtin_fma(a.re, b.im, c.im))};
  }
}

// What epilogues compute in their own type, not in float.
template <class T>
inline constexpr bool kOwnArithmetic = std::is_same_v<T, double> || kIsComplex<T>;

}  // namespace weft
