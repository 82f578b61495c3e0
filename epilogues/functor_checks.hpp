// What a user's functor must be, so that the same lines mean the same on both back ends.
//
// nvcc lets a constexpr function template call what has no device code and says nothing: the GPU
// then reads a register that nobody wrote. A functor whose call is a constant expression has none
// of that. g++ checks it, since it evaluates the built-in functions of mathematics, which nvcc and
// clang do not; nvcc checks what device_check.cuh calls.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/layouts/base/compiler.hpp"

namespace weft::epilogues {

// Call{}(f) is a constant expression for some f: Functor{}; an Functor whose members are all 1; an aggregate Functor whose
// addresses are those of tables of ones; or Functor::Sample(), which a functor may have that is none of these.
// Call is a stateless functor that makes the call to try. True for compilers that cannot tell, and where
// Functor{} itself is no constant expression: then the call has nothing to do with it.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
namespace internal {

// Every four bytes are kWord's.
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

// What a pointer member of a sample points at.
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

// Becomes a member of an Functor: a table's address, or 1.
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

// An Functor of as many of its first members as can be given, 16 at most.
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

// Functor's call is constexpr all through, as far as can be seen: at least one of `Calls` is a constant
// expression. One is enough, since a function may be undefined somewhere (the logarithm of -1, a
// division by a member that is 0). A function template that calls a plain function for some inputs
// only is not noticed.
template <class Functor, class... Calls>
inline constexpr bool kConstexprFunctor = (ConstantCall<Functor, Calls> || ...);

namespace internal {

// The first parameter of a call operator that is neither a template nor overloaded; else void.
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
// Neither a template nor overloaded.
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
  To{x};  // braces refuse what narrows
};

}  // namespace internal

// Functor is given a Type and takes another type, which has not every Type: a float as an int, an std::uint8_t as an
// std::int8_t. The call converts it without a word. Not seen of templates and overloaded operators.
template <class Functor, class Type>
inline constexpr bool kNarrows = [] {
  using First = typename internal::FirstParameterOf<Functor>::type;
  if constexpr (std::is_arithmetic_v<First> && std::is_arithmetic_v<Type>) {
    return !internal::KeepsEvery<Type, First>;
  } else {
    return false;
  }
}();

// Functor's bytes are all there is to it, so that an operator can copy them to the GPU.
template <class Functor>
inline constexpr bool kBytesAreEnough =
    std::is_trivially_copyable_v<Functor> && std::is_default_constructible_v<Functor>;

}  // namespace weft::epilogues
