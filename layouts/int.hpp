// Compile-time integers: Int<N> is the number N carried by its type.
//
// Arithmetic on two Ints is an Int again, so whatever is known at compile time stays known; an Int
// together with a run-time integer converts to a plain integer and follows the usual C++ rules.
// Run-time integers in layouts are std::int32_t or std::int64_t.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weft::layouts {

// The number N. Its run-time type is int32 where N fits and int64 otherwise.
template <std::int64_t N>
struct Int {
  using value_type = std::conditional_t<(N >= std::numeric_limits<std::int32_t>::min() &&
                                         N <= std::numeric_limits<std::int32_t>::max()),
                                        std::int32_t, std::int64_t>;
  static constexpr value_type value = static_cast<value_type>(N);
  constexpr operator value_type() const { return value; }
};

// kInt<4> is a value of type Int<4>.
template <std::int64_t N>
inline constexpr Int<N> kInt{};

namespace detail {
template <class T>
struct IsIntTrait : std::false_type {};
template <std::int64_t N>
struct IsIntTrait<Int<N>> : std::true_type {};
}  // namespace detail

// T is Int<N> for some N.
template <class T>
concept StaticInteger = detail::IsIntTrait<std::remove_cvref_t<T>>::value;

// T is a plain integer type (bool is not a number here).
template <class T>
concept DynamicInteger =
    std::integral<std::remove_cvref_t<T>> && !std::same_as<std::remove_cvref_t<T>, bool>;

// A leaf of a shape, a stride or a coordinate.
template <class T>
concept Integer = StaticInteger<T> || DynamicInteger<T>;

// T is exactly Int<N>.
template <class T, std::int64_t N>
concept IsInt = std::same_as<std::remove_cvref_t<T>, Int<N>>;

// Int<N>: itself. A plain integer: the signed integer of 32 or 64 bits that holds its width; an
// unsigned number must fit the signed type of the same width.
template <Integer T>
constexpr auto AsInteger(T x) {
  if constexpr (StaticInteger<T>) {
    return x;
  } else {
    return static_cast<
        std::conditional_t<(sizeof(T) <= sizeof(std::int32_t)), std::int32_t, std::int64_t>>(x);
  }
}

template <std::int64_t A, std::int64_t B>
constexpr Int<A + B> operator+(Int<A>, Int<B>) {
  return {};
}
template <std::int64_t A, std::int64_t B>
constexpr Int<A - B> operator-(Int<A>, Int<B>) {
  return {};
}
template <std::int64_t A, std::int64_t B>
constexpr Int<A * B> operator*(Int<A>, Int<B>) {
  return {};
}
template <std::int64_t A, std::int64_t B>
constexpr Int<A / B> operator/(Int<A>, Int<B>) {
  static_assert(B != 0, "layouts: a compile-time integer is divided by zero");
  return {};
}
template <std::int64_t A, std::int64_t B>
constexpr Int<A % B> operator%(Int<A>, Int<B>) {
  static_assert(B != 0, "layouts: a compile-time integer is divided by zero");
  return {};
}
template <std::int64_t A>
constexpr Int<-A> operator-(Int<A>) {
  return {};
}

// The smaller of a and b.
template <Integer A, Integer B>
constexpr auto Min(A a, B b) {
  if constexpr (StaticInteger<A> && StaticInteger<B>) {
    return Int<(A::value < B::value ? A::value : B::value)>{};
  } else {
    using T = decltype(a + b);
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);
  }
}

// The larger of a and b.
template <Integer A, Integer B>
constexpr auto Max(A a, B b) {
  if constexpr (StaticInteger<A> && StaticInteger<B>) {
    return Int<(A::value > B::value ? A::value : B::value)>{};
  } else {
    using T = decltype(a + b);
    return static_cast<T>(a) > static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);
  }
}

// a / b rounded up, for a >= 0 and b > 0.
template <Integer A, Integer B>
constexpr auto CeilDiv(A a, B b) {
  return (a + b - Int<1>{}) / b;
}

// |a|.
template <Integer A>
constexpr auto Abs(A a) {
  if constexpr (StaticInteger<A>) {
    return Int<(A::value < 0 ? -A::value : A::value)>{};
  } else {
    return a < 0 ? -a : a;
  }
}

}  // namespace weft::layouts
