// Source functors: elementwise work on a convolution's source on its way to shared memory. A policy
// that has
//
//     using SourceFunctor = MyFunctor;
//
// (conv/ready_made.hpp: WithSource<PolicyT, MyFunctor>) multiplies what the functor makes of each
// source value, and its src is a tensor of the functor's Source:
//
//     struct MyFunctor {
//       using Source = std::uint8_t;  // or std::int8_t
//       const float* scale = nullptr;  // run-time values: args.source_functor.scale = ...
//       constexpr std::int8_t operator()(std::uint8_t x, int c) const;  // c: the channel
//     };
//
// It is default-constructible and trivially copyable, and can be called as it is by default: an
// address that is null has a meaning, such as `scale == nullptr ? 1.0f : scale[c]`. What its
// members point to is read while the kernel runs; nothing checks that memory, and dst must not
// overlap it. Padding is not converted: taps outside the image are zeros of the product, and the
// functor is called only for pixels of the image and channels below problem.c.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/epilogues/functor_checks.hpp"

namespace weft::conv {

// The SourceFunctor of a policy that names none.
struct NoSourceFunctor {};

namespace internal {

// Whether a policy names a SourceFunctor.
template <class PolicyT>
concept HasSourceFunctor = requires { typename PolicyT::SourceFunctor; };

template <class PolicyT>
struct SourceFunctorOfPolicy {
  using type = NoSourceFunctor;
  using Source = typename PolicyT::Element;
};
template <HasSourceFunctor PolicyT>
struct SourceFunctorOfPolicy<PolicyT> {
  using type = typename PolicyT::SourceFunctor;
  using Source = typename type::Source;
};

// Calls a functor with a constant, for epilogues::ConstantCall.
template <int kValue>
struct CallSourceFunctor {
  template <class Functor>
  constexpr auto operator()(const Functor& f) const {
    return f(static_cast<typename Functor::Source>(kValue), 0);
  }
};

template <class Functor>
concept HasSource = std::same_as<typename Functor::Source, std::int8_t> ||
                    std::same_as<typename Functor::Source, std::uint8_t>;
template <class Functor, class Element>
concept MapsSource = requires(const Functor f, typename Functor::Source x, int c) {
  { f(x, c) } -> std::same_as<Element>;
};

}  // namespace internal

template <class PolicyT>
using SourceFunctorOf = typename internal::SourceFunctorOfPolicy<PolicyT>::type;
// The element type of a policy's src.
template <class PolicyT>
using SourceElement = typename internal::SourceFunctorOfPolicy<PolicyT>::Source;
template <class PolicyT>
inline constexpr bool kConvertsSource = !std::is_same_v<SourceFunctorOf<PolicyT>, NoSourceFunctor>;

// Instantiating this type checks a functor whose results are multiplied as Element.
template <class Functor, class Element>
struct CheckedSourceFunctor {
  static_assert(internal::HasSource<Functor> && internal::MapsSource<Functor, Element>,
                "weft: a SourceFunctor has `using Source = std::uint8_t` (or std::int8_t) and "
                "`constexpr Element operator()(Source x, int channel) const`, Element being the "
                "policy's");
  static constexpr bool kValid = true;
};
template <class Functor, class Element>
  requires(internal::HasSource<Functor> && internal::MapsSource<Functor, Element>)  //
struct CheckedSourceFunctor<Functor, Element> {
  static_assert(epilogues::kBytesAreEnough<Functor>,
                "weft: a SourceFunctor is default-constructible and trivially copyable, since its "
                "bytes are copied to the GPU; give it numbers and addresses as members");
  static_assert(epilogues::kConstexprFunctor<Functor, internal::CallSourceFunctor<3>,
                                             internal::CallSourceFunctor<0>>,
                "weft: a SourceFunctor is not constexpr all through, so it has no GPU code; write "
                "`constexpr Element operator()(Source x, int channel) const`, call only constexpr "
                "functions in it; if it is, give it `static constexpr` Sample() that returns one "
                "whose call can be tried");
  static_assert(
      !epilogues::kNarrows<Functor, typename Functor::Source>,
      "weft: a SourceFunctor takes another type than its Source, which has not every "
      "value of Source; write `constexpr Element operator()(Source x, int channel) const`");
  static constexpr bool kValid = true;
};
template <class Element>
struct CheckedSourceFunctor<NoSourceFunctor, Element> {
  static constexpr bool kValid = true;
};

}  // namespace weft::conv
