// Load functors: matrices of 8- or 4-bit elements that become the product's Element on their way to
// the multiplication. A policy of a GEMM that has
//
//     using LoadB = weft::gemm::Upcast<weft::Half, std::int8_t>;  // or LoadA, or both
//
// multiplies what the functor makes of each element of B, and its b is a matrix of the functor's
// Source:
//
//     struct MyLoad {
//       using Source = std::int8_t;  // or std::uint8_t, weft::Int4, Float8E4m3, Float8E5m2
//       float zero = 0.0f;           // run-time values: args.load_b.zero = ...
//       constexpr weft::Half operator()(std::int8_t x) const;  // of Int4 too: x is -8 to 7
//     };
//
// The functor is default-constructible and trivially copyable. Elements past the end of k
// contribute nothing to the product, whatever the functor makes of them. A functor needs no scale
// for each column: the epilogue applies one at no cost (channel_alpha).
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/epilogues/functor_checks.hpp"
#include "weft/layouts/element/float16.hpp"
#include "weft/layouts/element/float8.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::gemm {

// The load functor of an operand whose elements in memory are multiplied as they are.
struct NoLoad {};

namespace internal {

// How elements of a functor's Source are stored in memory and passed to the functor.
template <class Source>
struct LoadSource {
  static constexpr bool kExists =
      std::is_same_v<Source, std::int8_t> || std::is_same_v<Source, std::uint8_t> ||
      std::is_same_v<Source, Float8E4m3> || std::is_same_v<Source, Float8E5m2>;
  using Value = Source;   // what the functor is given
  using Stored = Source;  // what the matrix is of
  static constexpr int kBits = 8;
  static constexpr Value FromBits(std::uint32_t bits) {
    return std::bit_cast<Value>(static_cast<std::uint8_t>(bits));
  }
};
template <>
struct LoadSource<Int4> {
  static constexpr bool kExists = true;
  using Value = std::int8_t;
  using Stored = std::uint8_t;
  static constexpr int kBits = 4;
  static constexpr Value FromBits(std::uint32_t bits) {
    return static_cast<std::int8_t>(static_cast<int>((bits & 15u) ^ 8u) - 8);
  }
};

// Calls a functor with the constant kValue: epilogues::kConstexprFunctor and the check on the
// device try with it whether the call is constexpr and has GPU code.
template <int kValue>
struct CallLoad {
  template <class Functor>
  constexpr auto operator()(const Functor& f) const {
    return f(LoadSource<typename Functor::Source>::FromBits(kValue));
  }
};

template <class Functor>
concept HasLoadSource = LoadSource<typename Functor::Source>::kExists;
template <class Functor, class Element>
concept LoadsElement =
    requires(const Functor f, typename LoadSource<typename Functor::Source>::Value x) {
      { f(x) } -> std::same_as<Element>;
    };

}  // namespace internal

// The load functor that upcasts a From to the same number as an Element, a type that represents
// every value of From exactly: Half or Bfloat16, or std::int8_t from Int4.
template <class Element, class From>
struct Upcast {
  static_assert(
      std::is_same_v<Element, Half> || std::is_same_v<Element, Bfloat16> ||
          std::is_same_v<Element, typename internal::LoadSource<From>::Value>,
      "weft: Upcast<Element, From> makes a Half or Bfloat16 of From, or an std::int8_t of "
      "weft::Int4; an Element that has not every number of From, such as std::int8_t of "
      "std::uint8_t, is no Upcast: write a functor that says what becomes of the others");
  using Source = From;
  using Value = typename internal::LoadSource<From>::Value;
  constexpr Element operator()(Value x) const {
    if constexpr (std::is_same_v<Element, Value>) {
      return x;
    } else if constexpr (std::is_class_v<Value>) {
      return Element::FromFloat(x.ToFloat());
    } else {
      // The integer becomes the last bits of a float whose ulp is 1 (2^-112 for Half, whose
      // exponent has another bias); subtracting that float leaves the integer, exactly, so that its
      // upper bits are those of the Element.
      constexpr bool kHalf = std::is_same_v<Element, Half>;
      constexpr std::uint32_t kUlps = kHalf ? 0x13000000u : 0x4b000000u;
      constexpr int kLow = std::is_same_v<From, Int4>          ? 8
                           : std::is_same_v<From, std::int8_t> ? 128
                                                               : 0;
      const auto above = static_cast<std::uint32_t>(static_cast<std::uint8_t>(x + kLow));
      const float number = std::bit_cast<float>(kUlps | above) - std::bit_cast<float>(kUlps | kLow);
      const auto bits = std::bit_cast<std::uint32_t>(number);
      if constexpr (kHalf) {
        return Half::FromBits(
            static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | (bits >> 13 & 0x7fffu)));
      } else {
        return Bfloat16::FromBits(static_cast<std::uint16_t>(bits >> 16));
      }
    }
  }
};
// Its name of before.
template <class Element, class From>
using Widen [[deprecated("weft: gemm::Widen is called gemm::Upcast now")]] = Upcast<Element, From>;

namespace internal {

// Whether a policy names a load functor for A, for B.
template <class PolicyT>
concept HasLoadA = requires { typename PolicyT::LoadA; };
template <class PolicyT>
concept HasLoadB = requires { typename PolicyT::LoadB; };

template <class PolicyT, bool kIsA>
struct LoadOfPolicy {
  using type = NoLoad;
};
template <HasLoadA PolicyT>
struct LoadOfPolicy<PolicyT, true> {
  using type = typename PolicyT::LoadA;
};
template <HasLoadB PolicyT>
struct LoadOfPolicy<PolicyT, false> {
  using type = typename PolicyT::LoadB;
};

template <class Stored, class Load>
struct StoredOfLoad : LoadSource<typename Load::Source> {};
template <class StoredT>
struct StoredOfLoad<StoredT, NoLoad> {
  using Stored = StoredT;
  static constexpr int kBits = 8 * sizeof(Stored);
};

}  // namespace internal

// The number of bytes that hold `elements` elements of kBits bits (4, or a multiple of 8), rounded
// up.
template <int kBits, class Type>
constexpr Type BytesOfElements(Type elements) {
  if constexpr (kBits % 8 == 0) {
    return elements * (kBits / 8);
  } else {
    return elements / 2 + elements % 2;
  }
}
// The same of a number of bits that is known when the program runs. It does not count the bits, of which there may be
// more than an int64 holds.
constexpr std::int64_t BytesOfElements(std::int64_t elements, int bits) {
  return bits % 8 == 0 ? elements * (bits / 8) : elements / 2 + elements % 2;
}

// The load functor of A (kIsA) or B, NoLoad if the policy names none; and whether it is one.
template <class PolicyT, bool kIsA>
using LoadOf = typename internal::LoadOfPolicy<PolicyT, kIsA>::type;
template <class Load>
inline constexpr bool kLoads = !std::is_same_v<Load, NoLoad>;

// Whether wgmma_sm90 takes the functor, for B in registers (register_fragments.hpp) or for A: it
// upcasts std::int8_t and Int4 to Half and Bfloat16.
template <class Load>
inline constexpr bool kUpcastsInRegisters = false;
template <class Element, class From>
inline constexpr bool kUpcastsInRegisters<Upcast<Element, From>> =
    (std::is_same_v<Element, Half> || std::is_same_v<Element, Bfloat16>) &&
    (std::is_same_v<From, std::int8_t> || std::is_same_v<From, Int4>);

// Instantiating this checks a load functor of a product that multiplies Elements.
template <class Functor, class Element>
struct CheckedLoad {
  static_assert(
      internal::HasLoadSource<Functor> && internal::LoadsElement<Functor, Element>,
      "weft: LoadA and LoadB of a GEMM have `using Source = std::int8_t` (or std::uint8_t, "
      "weft::Int4, weft::Float8E4m3, weft::Float8E5m2) and `constexpr Element "
      "operator()(Source x) const`, with std::int8_t for Int4's x, Element being the "
      "policy's (of B std::int8_t where that is std::uint8_t)");
  static constexpr bool kValid = true;
};
template <class Functor, class Element>
  requires(internal::HasLoadSource<Functor> && internal::LoadsElement<Functor, Element>)  //
struct CheckedLoad<Functor, Element> {
  static_assert(epilogues::kBytesAreEnough<Functor>,
                "weft: LoadA and LoadB of a GEMM are default-constructible and trivially copyable, "
                "since their bytes are copied to the GPU; give them numbers as members");
  static_assert(
      epilogues::kConstexprFunctor<Functor, internal::CallLoad<3>, internal::CallLoad<0>>,
      "weft: LoadA or LoadB of a GEMM is not constexpr all through, so it has no GPU code; write "
      "`constexpr Element operator()(Source x) const` and call only constexpr functions in it; if "
      "it is, "
      "give it `static constexpr` Sample() that returns one whose call can be tried");
  static_assert(
      !epilogues::kNarrows<Functor, typename internal::LoadSource<typename Functor::Source>::Value>,
      "weft: LoadA or LoadB of a GEMM takes another type than its Source, which has not every "
      "value of "
      "Source; write `constexpr Element operator()(Source x) const`");
  static constexpr bool kValid = true;
};
template <class Element>
struct CheckedLoad<NoLoad, Element> {
  static constexpr bool kValid = true;
};

}  // namespace weft::gemm
