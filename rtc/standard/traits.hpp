// <cstdint>, <cstddef>, <type_traits> and <concepts>, as far as Weft's device headers use them, for
// NVRTC, which has no standard headers.
#pragma once

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)

namespace std {

using ::int8_t, ::int16_t, ::int32_t, ::int64_t, ::intptr_t;
using ::uint8_t, ::uint16_t, ::uint32_t, ::uint64_t, ::uintptr_t;
using size_t = decltype(sizeof(0));
using ptrdiff_t = long;
using nullptr_t = decltype(nullptr);
enum class byte : unsigned char {};

template <class Type, Type kValue>
struct integral_constant {
  using value_type = Type;
  using type = integral_constant;
  static constexpr Type value = kValue;
  constexpr operator Type() const noexcept { return kValue; }
  constexpr Type operator()() const noexcept { return kValue; }
};
template <bool kValue>
using bool_constant = integral_constant<bool, kValue>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class Type>
struct type_identity {
  using type = Type;
};
template <class Type>
using type_identity_t = typename type_identity<Type>::type;

template <bool kFirst, class First, class Second>
struct conditional : type_identity<First> {};
template <class First, class Second>
struct conditional<false, First, Second> : type_identity<Second> {};
template <bool kFirst, class First, class Second>
using conditional_t = typename conditional<kFirst, First, Second>::type;

template <bool kEnabled, class Type = void>
struct enable_if {};
template <class Type>
struct enable_if<true, Type> : type_identity<Type> {};
template <bool kEnabled, class Type = void>
using enable_if_t = typename enable_if<kEnabled, Type>::type;
template <class...>
using void_t = void;

template <class Type>
struct remove_reference : type_identity<Type> {};
template <class Type>
struct remove_reference<Type&> : type_identity<Type> {};
template <class Type>
struct remove_reference<Type&&> : type_identity<Type> {};
template <class Type>
struct remove_const : type_identity<Type> {};
template <class Type>
struct remove_const<const Type> : type_identity<Type> {};
template <class Type>
struct remove_cv : type_identity<Type> {};
template <class Type>
struct remove_cv<const Type> : type_identity<Type> {};
template <class Type>
struct remove_cv<volatile Type> : type_identity<Type> {};
template <class Type>
struct remove_cv<const volatile Type> : type_identity<Type> {};
template <class Type>
struct remove_cvref : remove_cv<typename remove_reference<Type>::type> {};
template <class Type>
struct remove_pointer : type_identity<Type> {};
template <class Type>
struct remove_pointer<Type*> : type_identity<Type> {};
template <class Type>
struct remove_extent : type_identity<Type> {};
template <class Type, size_t kCount>
struct remove_extent<Type[kCount]> : type_identity<Type> {};
template <class Type>
struct remove_all_extents : type_identity<Type> {};
template <class Type, size_t kCount>
struct remove_all_extents<Type[kCount]> : remove_all_extents<Type> {};
template <class Type>
using remove_reference_t = typename remove_reference<Type>::type;
template <class Type>
using remove_const_t = typename remove_const<Type>::type;
template <class Type>
using remove_cv_t = typename remove_cv<Type>::type;
template <class Type>
using remove_cvref_t = typename remove_cvref<Type>::type;
template <class Type>
using remove_pointer_t = typename remove_pointer<Type>::type;
template <class Type>
using remove_extent_t = typename remove_extent<Type>::type;
template <class Type>
using remove_all_extents_t = typename remove_all_extents<Type>::type;

template <class First, class Second>
inline constexpr bool is_same_v = false;
template <class Type>
inline constexpr bool is_same_v<Type, Type> = true;
template <class First, class Second>
struct is_same : bool_constant<is_same_v<First, Second>> {};

template <class Type>
inline constexpr bool is_void_v = is_same_v<remove_cv_t<Type>, void>;
template <class Type>
inline constexpr bool is_pointer_v = false;
template <class Type>
inline constexpr bool is_pointer_v<Type*> = true;
template <class Type>
inline constexpr bool is_const_v = false;
template <class Type>
inline constexpr bool is_const_v<const Type> = true;
template <class Type>
inline constexpr bool is_lvalue_reference_v = false;
template <class Type>
inline constexpr bool is_lvalue_reference_v<Type&> = true;
template <class Type>
inline constexpr bool is_reference_v = is_lvalue_reference_v<Type>;
template <class Type>
inline constexpr bool is_reference_v<Type&&> = true;
template <class Type>
inline constexpr bool is_array_v = false;
template <class Type, size_t kCount>
inline constexpr bool is_array_v<Type[kCount]> = true;
template <class Type, unsigned kDimension = 0>
inline constexpr size_t extent_v = 0;
template <class Type, size_t kCount>
inline constexpr size_t extent_v<Type[kCount], 0> = kCount;
template <class Type, size_t kCount, unsigned kDimension>
inline constexpr size_t extent_v<Type[kCount], kDimension> = extent_v<Type, kDimension - 1>;

template <class Type>
inline constexpr bool is_floating_point_v =
    is_same_v<remove_cv_t<Type>, float> || is_same_v<remove_cv_t<Type>, double>;
template <class Type, class... Types>
inline constexpr bool weft_is_one_of = (is_same_v<Type, Types> || ...);
template <class Type>
inline constexpr bool is_integral_v =
    weft_is_one_of<remove_cv_t<Type>, bool, char, signed char, unsigned char, short, unsigned short,
                   int, unsigned, long, unsigned long, long long, unsigned long long>;
template <class Type>
inline constexpr bool is_arithmetic_v = is_integral_v<Type> || is_floating_point_v<Type>;
template <class Type, bool kArithmetic = is_arithmetic_v<Type>>
inline constexpr bool is_signed_v = false;
template <class Type>
inline constexpr bool is_signed_v<Type, true> = Type(-1) < Type(0);
template <class Type>
inline constexpr bool is_unsigned_v = is_arithmetic_v<Type> && !is_signed_v<Type>;

template <class Type>
inline constexpr bool is_function_v = !is_const_v<const Type> && !is_reference_v<Type>;
template <class Type>
inline constexpr bool is_member_object_pointer_v = false;
template <class Member, class Class>
inline constexpr bool is_member_object_pointer_v<Member Class::*> = !is_function_v<Member>;

template <class Type>
inline constexpr bool is_class_v = __is_class(Type);
template <class Type>
inline constexpr bool is_empty_v = __is_empty(Type);
template <class Type>
inline constexpr bool is_enum_v = __is_enum(Type);
template <class Type>
inline constexpr bool is_object_v = requires(Type* object) { object; } && !is_void_v<Type>;
template <class Base, class Derived>
inline constexpr bool is_base_of_v = __is_base_of(Base, Derived);
template <class Type>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(Type);
template <class Type>
inline constexpr bool is_trivially_default_constructible_v = __is_trivially_constructible(Type);
template <class Type>
inline constexpr bool is_trivially_destructible_v = __has_trivial_destructor(Type);
template <class Type>
inline constexpr bool is_default_constructible_v = __is_constructible(Type);
template <class From, class To>
inline constexpr bool is_convertible_v = __is_convertible_to(From, To);

template <class Type>
Type&& declval() noexcept;

template <class From, class To>
concept convertible_to =
    __is_convertible_to(From, To) && requires { static_cast<To>(declval<From>()); };
template <class First, class Second>
concept same_as = is_same_v<First, Second> && is_same_v<Second, First>;
template <class Type>
concept integral = is_integral_v<Type>;
template <class Type>
concept floating_point = is_floating_point_v<Type>;
template <class Type>
concept default_initializable = requires { Type{}; };
template <class Function, class... Args>
inline constexpr bool is_invocable_v = requires(Function f, Args... args) { f(args...); };
template <class Result, class Function, class... Args>
inline constexpr bool is_invocable_r_v = requires(Function f, Args... args) {
  { f(args...) } -> convertible_to<Result>;
};

constexpr bool is_constant_evaluated() noexcept {
  return __builtin_is_constant_evaluated();
}

}  // namespace std
