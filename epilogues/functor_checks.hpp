// What a user's functor must be so that the same source means the same on both back ends.
//
// nvcc lets a constexpr function call functions that have no device code, without a message: the
// GPU then goes on as if the call could not happen. A functor whose call is a constant expression
// has no such calls on the way that the call takes. g++ checks that, since it evaluates the built-in
// mathematical functions in constant expressions, which nvcc and clang do not; nvcc checks all
// branches of what device_check.cuh marks. NVRTC checks it as g++ does, with the functions of
// rtc/standard.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/layouts/base/compiler.hpp"

namespace weft::epilogues {

// Whether Call{}(f) is a constant expression for some f: Functor{}; a Functor whose members are all
// 1; an aggregate Functor whose addresses point at tables of ones; or Functor::Sample(), which a
// functor may have if it is none of these. Call is a stateless functor that makes the call to try.
// True also for compilers that cannot tell, and where Functor{} itself is no constant expression:
// that says nothing about the call.
#if defined(__CUDACC_RTC__) || (defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__))
namespace internal {

// A Functor each four bytes of which are kWord's.
template <class Functor, std::uint32_t kWord>
  requires(std::is_trivially_copyable_v<Functor>)
constexpr Functor Filled() {
  struct Bytes {
    unsigned char byte[sizeof(Functor)];
  } bytes = {};
  for (std::size_t i = 0; i < sizeof(Functor); ++i) {
    bytes.byte[i] = static_cast<unsigned char>(kWord >> (i % 4 * 8));
  }
  return std::bit_cast<Functor>(bytes);
}
inline constexpr std::uint32_t kFloatOne = 0x3f800000;

// The table at which a pointer member of a sample points.
template <class Type>
struct Ones {
  static constexpr int kCount = 1024;
  Type value[kCount];
  constexpr Ones() : value() {
    if constexpr (std::is_arithmetic_v<Type>) {
      for (Type& one : value) one = Type{1};
    }
  }
};
template <class Type>
inline constexpr Ones<Type> kOnes{};

// Converts to a member of a Functor: the address of a table of ones, or 1.
template <class Functor>
struct AnyMember {
  template <class Type>
    requires(!std::is_same_v<Type, Functor>)
  constexpr operator Type() const {
    if constexpr (std::is_pointer_v<Type>) {
      using Element = std::remove_pointer_t<Type>;
      if constexpr (std::is_object_v<Element> && std::is_default_constructible_v<Element>) {
        return const_cast<Type>(&kOnes<std::remove_cv_t<Element>>.value[0]);
      } else {
        return nullptr;
      }
    } else if constexpr (std::is_arithmetic_v<Type>) {
      return Type{1};
    } else {
      return Type{};
    }
  }
};
template <class Functor, std::size_t>
using AnyMemberOf = AnyMember<Functor>;
template <class Functor, std::size_t... kIndex>
constexpr Functor WithMembers(std::index_sequence<kIndex...>) {
  return Functor{AnyMemberOf<Functor, kIndex>{}...};
}
template <class Functor, std::size_t... kIndex>
concept MadeOfMembers = requires { Functor{AnyMemberOf<Functor, kIndex>{}...}; };
template <class Functor, class Members>
inline constexpr bool kTakesMembers = false;
template <class Functor, std::size_t... kIndex>
  requires MadeOfMembers<Functor, kIndex...>
inline constexpr bool kTakesMembers<Functor, std::index_sequence<kIndex...>> = true;

template <class Functor>
concept HasSample = requires { Functor{Functor::Sample()}; };

// A Functor made with as many of its first members as it takes, at most 16.
template <class Functor, std::size_t kCount = 16>
constexpr Functor Sample() {
  if constexpr (HasSample<Functor>) {
    return Functor::Sample();
  } else if constexpr (kCount == 0) {
    return Functor{};
  } else if constexpr (kTakesMembers<Functor, std::make_index_sequence<kCount>>) {
    return WithMembers<Functor>(std::make_index_sequence<kCount>());
  } else {
    return Sample<Functor, kCount - 1>();
  }
}

template <class Functor>
concept ConstantDefault =
    requires { typename std::bool_constant<(static_cast<void>(Functor{}), true)>; };
template <class Functor, class Call>
concept ConstantOfDefault =
    requires { typename std::bool_constant<(static_cast<void>(Call{}(Functor{})), true)>; };
template <class Functor, class Call, std::uint32_t kWord>
concept ConstantOfFilled = requires {
  typename std::bool_constant<(static_cast<void>(Call{}(Filled<Functor, kWord>())), true)>;
};
template <class Functor, class Call>
concept ConstantOfSample =
    requires { typename std::bool_constant<(static_cast<void>(Call{}(Sample<Functor>())), true)>; };

}  // namespace internal

template <class Functor, class Call>
concept ConstantCall =
    !internal::ConstantDefault<Functor> || internal::ConstantOfDefault<Functor, Call> ||
    internal::ConstantOfFilled<Functor, Call, internal::kFloatOne> ||
    internal::ConstantOfFilled<Functor, Call, 1> || internal::ConstantOfSample<Functor, Call>;
#else
template <class Functor, class Call>
concept ConstantCall = true;
#endif

// Whether Functor's call is constexpr all through, as far as can be seen: at least one of `Calls`
// is a constant expression. One is enough, since a function may be undefined somewhere (the
// logarithm of -1, a division by a member that is 0). A function that calls a plain one for other
// inputs only is not noticed here.
template <class Functor, class... Calls>
inline constexpr bool kConstexprFunctor = (ConstantCall<Functor, Calls> || ...);

namespace internal {

// The type of the first parameter of a call operator that is neither a template nor overloaded;
// else void.
template <class Operator>
struct FirstParameter {
  using type = void;
};
template <class Functor, class Result, class First, class... Rest>
struct FirstParameter<Result (Functor::*)(First, Rest...) const> {
  using type = std::remove_cvref_t<First>;
};
template <class Functor, class Result, class First, class... Rest>
struct FirstParameter<Result (Functor::*)(First, Rest...) const noexcept> {
  using type = std::remove_cvref_t<First>;
};
// Whether the call operator is neither a template nor overloaded.
template <class Functor>
concept PlainCall = requires { &Functor::operator(); };
template <class Functor>
struct FirstParameterOf {
  using type = void;
};
template <PlainCall Functor>
struct FirstParameterOf<Functor> : FirstParameter<decltype(&Functor::operator())> {};

template <class From, class To>
concept KeepsEvery = requires(From x) {
  To{x};  // braces refuse a conversion that narrows
};

}  // namespace internal

// Whether Functor takes a type that cannot hold every value of the Type that it is given, such as
// an int for a float or an std::int8_t for an std::uint8_t: the call would convert it without a
// message. Templates and overloaded operators are not seen.
template <class Functor, class Type>
inline constexpr bool kNarrows = [] {
  using First = typename internal::FirstParameterOf<Functor>::type;
  if constexpr (std::is_arithmetic_v<First> && std::is_arithmetic_v<Type>) {
    return !internal::KeepsEvery<Type, First>;
  } else {
    return false;
  }
}();

// Whether a copy of Functor's bytes is a copy of it, so that an operator can send them to the GPU.
template <class Functor>
inline constexpr bool kBytesAreEnough =
    std::is_trivially_copyable_v<Functor> && std::is_default_constructible_v<Functor>;

}  // namespace weft::epilogues
