// Complex numbers as elements of products.
#pragma once

#include <type_traits>

namespace weft {

// The bytes of std::complex<T>, T = float or double, aligned to both parts at once.
template <class T>
struct alignas(2 * sizeof(T)) Complex {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "weft: Complex<T> takes T = float or double");
  T re = 0, im = 0;
  friend constexpr bool operator==(const Complex&, const Complex&) = default;
};

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<Complex<T>> = true;

// What epilogues compute in their own type, not in float.
template <class T>
inline constexpr bool kOwnArithmetic = std::is_same_v<T, double> || kIsComplex<T>;

}  // namespace weft
