// <utility>, <bit>, <limits>, <array>, <tuple>, <string_view> and <algorithm>, as far as
// Weft's device headers use them, for NVRTC.
#pragma once

#include "weft/rtc/standard/math.hpp"
#include "weft/rtc/standard/traits.hpp"

namespace std {

template <class Type>
constexpr remove_reference_t<Type>&& move(Type&& value) noexcept {
  return static_cast<remove_reference_t<Type>&&>(value);
}
template <class Type>
constexpr Type&& forward(remove_reference_t<Type>& value) noexcept {
  return static_cast<Type&&>(value);
}
template <class Type>
constexpr Type&& forward(remove_reference_t<Type>&& value) noexcept {
  return static_cast<Type&&>(value);
}
template <class Type, class Other = Type>
constexpr Type exchange(Type& to, Other&& value) {
  Type old = move(to);
  to = forward<Other>(value);
  return old;
}

template <class Type, Type... kValues>
struct integer_sequence {
  using value_type = Type;
  static constexpr size_t size() { return sizeof...(kValues); }
};
template <size_t... kValues>
using index_sequence = integer_sequence<size_t, kValues...>;
template <class First, class Second>
struct weft_joined;
template <class Type, Type... kFirst, Type... kSecond>
struct weft_joined<integer_sequence<Type, kFirst...>, integer_sequence<Type, kSecond...>>
    : type_identity<integer_sequence<Type, kFirst..., (Type(sizeof...(kFirst)) + kSecond)...>> {};
template <class Type, size_t kCount>
struct weft_sequence : weft_joined<typename weft_sequence<Type, kCount / 2>::type,
                                   typename weft_sequence<Type, kCount - kCount / 2>::type> {};
template <class Type>
struct weft_sequence<Type, 0> : type_identity<integer_sequence<Type>> {};
template <class Type>
struct weft_sequence<Type, 1> : type_identity<integer_sequence<Type, Type(0)>> {};
template <class Type, Type kCount>
using make_integer_sequence = typename weft_sequence<Type, size_t(kCount)>::type;
template <size_t kCount>
using make_index_sequence = make_integer_sequence<size_t, kCount>;
template <class... Types>
using index_sequence_for = make_index_sequence<sizeof...(Types)>;

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
template <class Type>
constexpr int popcount(Type value) noexcept {
  int count = 0;
  for (; value != 0; value &= value - 1) ++count;
  return count;
}
template <class Type>
constexpr int bit_width(Type value) noexcept {
  int width = 0;
  for (; value != 0; value >>= 1) ++width;
  return width;
}
template <class Type>
constexpr int countr_zero(Type value) noexcept {
  return value == 0 ? static_cast<int>(8 * sizeof(Type)) : popcount((value & (0 - value)) - 1);
}
template <class Type>
constexpr bool has_single_bit(Type value) noexcept {
  return value != 0 && (value & (value - 1)) == 0;
}

template <class Type>
struct numeric_limits {
  static constexpr bool is_integer = true, is_signed = is_signed_v<Type>;
  static constexpr int digits = static_cast<int>(8 * sizeof(Type)) - is_signed;
  static constexpr Type max() {
    return static_cast<Type>(~(is_signed ? 1ull << (8 * sizeof(Type) - 1) : 0ull));
  }
  static constexpr Type min() { return is_signed ? static_cast<Type>(-max() - 1) : Type(0); }
  static constexpr Type lowest() { return min(); }
};
template <>
struct numeric_limits<float> {
  static constexpr bool is_integer = false, is_signed = true;
  static constexpr int digits = 24;
  static constexpr float max() { return 0x1.fffffep127f; }
  static constexpr float min() { return 0x1p-126f; }
  static constexpr float lowest() { return -max(); }
  static constexpr float epsilon() { return 0x1p-23f; }
  static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000u); }
  static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fc00000u); }
};
template <>
struct numeric_limits<double> {
  static constexpr bool is_integer = false, is_signed = true;
  static constexpr int digits = 53;
  static constexpr double max() { return 0x1.fffffffffffffp1023; }
  static constexpr double min() { return 0x1p-1022; }
  static constexpr double lowest() { return -max(); }
  static constexpr double epsilon() { return 0x1p-52; }
  static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ffull << 52); }
  static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0xfffull << 51); }
};

template <class Type>
constexpr const Type& min(const Type& a, const Type& b) {
  return b < a ? b : a;
}
template <class Type>
constexpr const Type& max(const Type& a, const Type& b) {
  return a < b ? b : a;
}
template <class Type>
constexpr const Type& clamp(const Type& value, const Type& low, const Type& high) {
  return value < low ? low : high < value ? high : value;
}

template <class Type, size_t kCount>
struct array {
  Type value[kCount > 0 ? kCount : 1];

  constexpr Type& operator[](size_t i) { return value[i]; }
  constexpr const Type& operator[](size_t i) const { return value[i]; }
  static constexpr size_t size() { return kCount; }
  constexpr Type* data() { return value; }
  constexpr const Type* data() const { return value; }
  constexpr Type* begin() { return value; }
  constexpr const Type* begin() const { return value; }
  constexpr Type* end() { return value + kCount; }
  constexpr const Type* end() const { return value + kCount; }
  constexpr bool operator==(const array&) const = default;
};

// Only lists of types.
template <class... Types>
struct tuple {};
template <class Tuple>
struct tuple_size;
template <class... Types>
struct tuple_size<tuple<Types...>> : integral_constant<size_t, sizeof...(Types)> {};
template <class Tuple>
inline constexpr size_t tuple_size_v = tuple_size<Tuple>::value;
template <size_t kIndex, class Tuple>
struct tuple_element;
template <size_t kIndex, class First, class... Rest>
struct tuple_element<kIndex, tuple<First, Rest...>> : tuple_element<kIndex - 1, tuple<Rest...>> {};
template <class First, class... Rest>
struct tuple_element<0, tuple<First, Rest...>> : type_identity<First> {};
template <size_t kIndex, class Tuple>
using tuple_element_t = typename tuple_element<kIndex, Tuple>::type;

class string_view {
 public:
  constexpr string_view() = default;
  constexpr string_view(const char* text) : data_(text) {  // NOLINT(runtime/explicit)
    while (data_[size_] != 0) ++size_;
  }
  constexpr string_view(const char* data, size_t size) : data_(data), size_(size) {}
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const char* data() const { return data_; }
  constexpr char operator[](size_t i) const { return data_[i]; }
  constexpr const char* begin() const { return data_; }
  constexpr const char* end() const { return data_ + size_; }
  constexpr string_view substr(size_t from, size_t count = ~size_t{0}) const {
    return {data_ + from, count < size_ - from ? count : size_ - from};
  }

 private:
  const char* data_ = "";
  size_t size_ = 0;
};

// Declared, for functions of the host's that no kernel calls.
class string;
template <class Type>
class vector;
template <class Type>
class complex;

using ::fmax, ::fmin, ::memcpy;

}  // namespace std
