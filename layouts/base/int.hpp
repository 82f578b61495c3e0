// Compile-time integers: Int<kValue> is the number kValue carried by its type.
//
// Arithmetic on two Ints is an Int again, so whatever is known at compile time stays known; an Int
// together with a run-time integer converts to a plain integer and follows the usual C++ rules.
// Run-time integers in layouts are std::int32_t or std::int64_t.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/layouts/base/compiler.hpp"

namespace weft::layouts {

// The number kValue. Its run-time type is int32 where kValue fits and int64 otherwise.
template <std::int64_t kValue>
struct Int {
  using value_type = std::conditional_t<(kValue >= (std::numeric_limits<std::int32_t>::min)() &&
                                         kValue <= (std::numeric_limits<std::int32_t>::max)()),
                                        std::int32_t, std::int64_t>;
  static constexpr value_type value = static_cast<value_type>(kValue);
  constexpr operator value_type() const { return value; }
};

// kInt<4> is a value of type Int<4>.
template <std::int64_t kValue>
inline constexpr Int<kValue> kInt{};

namespace detail {
template <class Type>
struct IsIntTrait : std::false_type {};
template <std::int64_t kValue>
struct IsIntTrait<Int<kValue>> : std::true_type {};
}  // namespace detail

// Type is Int<kValue> for some kValue.
template <class Type>
concept StaticInteger = detail::IsIntTrait<std::remove_cvref_t<Type>>::value;

// Type is a plain integer type (bool is not a number here).
template <class Type>
concept DynamicInteger =
    std::integral<std::remove_cvref_t<Type>> && !std::same_as<std::remove_cvref_t<Type>, bool>;

// A leaf of a shape, a stride or a coordinate.
template <class Type>
concept Integer = StaticInteger<Type> || DynamicInteger<Type>;

// Type is exactly Int<kValue>.
template <class Type, std::int64_t kValue>
concept IsInt = std::same_as<std::remove_cvref_t<Type>, Int<kValue>>;

// Int<kValue>: itself. A plain integer: the signed integer of 32 or 64 bits that holds its width; an
// unsigned number must fit the signed type of the same width.
template <Integer IntegerT>
constexpr auto AsInteger(IntegerT x) {
  if constexpr (StaticInteger<IntegerT>) {
    return x;
  } else {
    return static_cast<
        std::conditional_t<(sizeof(IntegerT) <= sizeof(std::int32_t)), std::int32_t, std::int64_t>>(
        x);
  }
}

template <std::int64_t kLeft, std::int64_t kRight>
constexpr Int<kLeft + kRight> operator+(Int<kLeft>, Int<kRight>) {
  return {};
}
template <std::int64_t kLeft, std::int64_t kRight>
constexpr Int<kLeft - kRight> operator-(Int<kLeft>, Int<kRight>) {
  return {};
}
template <std::int64_t kLeft, std::int64_t kRight>
constexpr Int<kLeft * kRight> operator*(Int<kLeft>, Int<kRight>) {
  return {};
}
template <std::int64_t kLeft, std::int64_t kRight>
constexpr Int<kLeft / kRight> operator/(Int<kLeft>, Int<kRight>) {
  static_assert(kRight != 0, "layouts: a compile-time integer is divided by zero");
  return {};
}
template <std::int64_t kLeft, std::int64_t kRight>
constexpr Int<kLeft % kRight> operator%(Int<kLeft>, Int<kRight>) {
  static_assert(kRight != 0, "layouts: a compile-time integer is divided by zero");
  return {};
}
template <std::int64_t kLeft>
constexpr Int<-kLeft> operator-(Int<kLeft>) {
  return {};
}

// The smaller of a and b.
template <Integer IntegerA, Integer IntegerB>
constexpr auto Min(IntegerA a, IntegerB b) {
  if constexpr (StaticInteger<IntegerA> && StaticInteger<IntegerB>) {
    return Int<(IntegerA::value < IntegerB::value ? IntegerA::value : IntegerB::value)>{};
  } else {
    using Type = decltype(a + b);
    return static_cast<Type>(a) < static_cast<Type>(b) ? static_cast<Type>(a)
                                                       : static_cast<Type>(b);
  }
}

// The larger of a and b.
template <Integer IntegerA, Integer IntegerB>
constexpr auto Max(IntegerA a, IntegerB b) {
  if constexpr (StaticInteger<IntegerA> && StaticInteger<IntegerB>) {
    return Int<(IntegerA::value > IntegerB::value ? IntegerA::value : IntegerB::value)>{};
  } else {
    using Type = decltype(a + b);
    return static_cast<Type>(a) > static_cast<Type>(b) ? static_cast<Type>(a)
                                                       : static_cast<Type>(b);
  }
}

// a / b rounded up, for a >= 0 and b > 0.
template <Integer IntegerA, Integer IntegerB>
constexpr auto CeilDiv(IntegerA a, IntegerB b) {
  return (a + b - Int<1>{}) / b;
}

// |a|.
template <Integer IntegerA>
constexpr auto Abs(IntegerA a) {
  if constexpr (StaticInteger<IntegerA>) {
    return Int<(IntegerA::value < 0 ? -IntegerA::value : IntegerA::value)>{};
  } else {
    return a < 0 ? -a : a;
  }
}

}  // namespace weft::layouts
