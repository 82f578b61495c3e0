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

#include "weft/layouts/compiler.hpp"

namespace weft::epilogues {

// Call{}(f) is a constant expression for some f: Functor{}, or a Functor whose members are all 1. Call is a
// stateless functor that makes the call to try. True for compilers that cannot tell, and where Functor{}
// itself is no constant expression: then the call has nothing to do with it.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
namespace internal {

// Every four bytes are kWord's.
template <class Functor, std::uint32_t kWord>
requires(std::is_trivially_copyable_v<Functor>) constexpr Functor Filled() {
  struct Bytes {
    unsigned char byte[sizeof(Functor)];
  } bytes = {};
  for (std::size_t i = 0; i < sizeof(Functor); ++i) {
    bytes.byte[i] = static_cast<unsigned char>(kWord >> (i % 4 * 8));
  }
  return std::bit_cast<Functor>(bytes);
}
inline constexpr std::uint32_t kFloatOne = 0x3f800000;

template <class Functor>
concept ConstantDefault = requires {
  typename std::bool_constant<(static_cast<void>(Functor{}), true)>;
};
template <class Functor, class Call>
concept ConstantOfDefault = requires {
  typename std::bool_constant<(static_cast<void>(Call{}(Functor{})), true)>;
};
template <class Functor, class Call, std::uint32_t kWord>
concept ConstantOfFilled = requires {
  typename std::bool_constant<(static_cast<void>(Call{}(Filled<Functor, kWord>())), true)>;
};

}  // namespace internal

template <class Functor, class Call>
concept ConstantCall =
    !internal::ConstantDefault<Functor> || internal::ConstantOfDefault<Functor, Call> ||
    internal::ConstantOfFilled<Functor, Call, internal::kFloatOne> ||
    internal::ConstantOfFilled<Functor, Call, 1>;
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

// Functor's bytes are all there is to it, so that an operator can copy them to the GPU.
template <class Functor>
inline constexpr bool kBytesAreEnough =
    std::is_trivially_copyable_v<Functor>&& std::is_default_constructible_v<Functor>;

}  // namespace weft::epilogues
