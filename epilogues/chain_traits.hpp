// What Chain asks of its stages: of what kind each is, whether their order is the contract's, and
// which one a kernel looks for.
#pragma once

#include <concepts>
#include <type_traits>

#include "weft/epilogues/activations.hpp"
#include "weft/epilogues/functor_checks.hpp"
#include "weft/epilogues/stages.hpp"

namespace weft::epilogues {

// A stage whose functor maps float to float, with or without the output coordinate, or a value of
// the output channel.
template <class F>
concept PlainActivation = requires(const F f, float x) {
  { f(x) } -> std::same_as<float>;
};
template <class F>
concept CoordinateActivation = requires(const F f, float x, const OutputCoord& at) {
  { f(x, at) } -> std::same_as<float>;
};
template <class F>
concept ChannelActivation = requires(const F f, float x) {
  { f(x, x) } -> std::same_as<float>;
  { f.ChannelValues() } -> std::same_as<const float*>;
};
template <class F>
concept Activation = PlainActivation<F> || CoordinateActivation<F> || ChannelActivation<F>;

template <class S>
inline constexpr bool kIsScale = std::is_base_of_v<internal::ScaleTag, S>;
template <class S>
inline constexpr bool kIsBias = std::is_base_of_v<internal::BiasTag, S>;
template <class S>
inline constexpr bool kIsResidual = std::is_base_of_v<internal::ResidualTag, S>;
template <class S>
inline constexpr bool kIsOutput = std::is_base_of_v<internal::OutputTag, S>;
template <class S>
inline constexpr bool kIsCopy = std::is_base_of_v<internal::CopyTag, S>;
template <class S>
inline constexpr bool kIsRange = std::is_same_v<S, ChannelRange>;
template <class S>
inline constexpr bool kIsSums = std::is_base_of_v<internal::SumsTag, S>;
template <class S>
inline constexpr bool kIsZeroPoint = std::is_base_of_v<internal::ZeroPointTag, S>;
template <class S>
inline constexpr bool kIsActivation =
    !kIsScale<S> && !kIsBias<S> && !kIsZeroPoint<S> && !kIsResidual<S> && !kIsOutput<S> &&
    !kIsCopy<S> && !kIsRange<S> && !kIsSums<S>;

template <class S>
concept Stage = !kIsActivation<S> || Activation<S>;

namespace internal {

// The type of the one stage that satisfies kWanted, or void.
template <template <class> class Wanted, class... Stages>
struct Find {
  using type = void;
};
template <template <class> class Wanted, class First, class... Rest>
struct Find<Wanted, First, Rest...> {
  using type =
      std::conditional_t<Wanted<First>::value, First, typename Find<Wanted, Rest...>::type>;
};
template <class S>
struct WantBias : std::bool_constant<kIsBias<S>> {};
template <class S>
struct WantResidual : std::bool_constant<kIsResidual<S>> {};
template <class S>
struct WantCopy : std::bool_constant<kIsCopy<S>> {};
template <class S>
struct WantRange : std::bool_constant<kIsRange<S>> {};
template <class S>
struct WantSums : std::bool_constant<kIsSums<S>> {};
template <class S>
struct WantChannelValues : std::bool_constant<kIsActivation<S> && ChannelActivation<S>> {};
template <class S>
struct WantOutput : std::bool_constant<kIsOutput<S>> {};

// The format of a residual or a copy whose output is in Dst.
template <class S, class Dst>
struct FormatBeside {
  using type =
      std::conditional_t<std::is_same_v<typename S::Layout, SameAsDst>, Dst, typename S::Layout>;
};
template <class Dst>
struct FormatBeside<void, Dst> {
  using type = Dst;
};

template <class S, class Default>
struct ElementOf {
  using type = typename S::Element;
};
template <class Default>
struct ElementOf<void, Default> {
  using type = Default;
};

// An activation called as the kernels do, for ConstantCall.
template <bool kPositive>
struct CallActivation {
  template <class F>
  constexpr float operator()(const F& f) const {
    const float x = kPositive ? 0.375f : -0.375f;
    if constexpr (PlainActivation<F>) {
      return f(x);
    } else if constexpr (ChannelActivation<F>) {
      return f(x, 0.25f);
    } else {
      return f(x, OutputCoord{});
    }
  }
};
template <class S>
constexpr bool ConstexprStage() {
  if constexpr (kIsActivation<S> && Activation<S>) {
    return kConstexprFunctor<S, CallActivation<true>, CallActivation<false>>;
  } else {
    return true;
  }
}

// Ranks of the contract's order; an activation and a late residual share one.
inline constexpr int kActivationRank = 4;
template <class S>
constexpr int Rank() {
  if (kIsResidual<S>) return 0;
  if (std::is_same_v<S, SumBias> || kIsZeroPoint<S>) return 1;
  if (kIsScale<S>) return 2;
  if (kIsBias<S>) return 3;
  return kIsOutput<S> ? kActivationRank + 1 : kActivationRank;
}
template <class... Stages>
constexpr bool InContractOrder() {
  const int ranks[] = {Rank<Stages>()...};
  int seen = -1;
  for (int rank : ranks) {
    // A residual may also follow an activation.
    const int effective = rank == 0 && seen == kActivationRank ? kActivationRank : rank;
    if (effective < seen) return false;
    seen = effective;
  }
  return true;
}

// Whether RoundFirst is the last activation, right before the output stage (but for sums of it), and
// nowhere else.
template <class... Stages>
constexpr bool RoundsFirst() {
  const bool rounds[] = {std::is_same_v<Stages, RoundFirst>...};
  int count = 0;
  for (const bool round : rounds) count += round;
  constexpr int kLast = int{sizeof...(Stages)} - 2 - (int{kIsSums<Stages>} + ... + 0);
  return count == 1 && kLast >= 0 && rounds[kLast < 0 ? 0 : kLast];
}

// Of one value of an output stage; 0 for others.
template <class S>
constexpr int OutputBytes() {
  if constexpr (kIsOutput<S>) {
    return sizeof(typename S::Element);
  } else {
    return 0;
  }
}

// Whether sums, if there are any, are those of a ClampTo right behind them.
template <class... Stages>
constexpr bool SumsBeforeClamp() {
  const bool sums[] = {kIsSums<Stages>...};
  int count = 0;
  for (const bool sum : sums) count += sum;
  if (count == 0) return true;
  return count == 1 && sizeof...(Stages) > 1 && sums[sizeof...(Stages) - 2] &&
         ((OutputBytes<Stages>() == 1) || ...);
}

}  // namespace internal

}  // namespace weft::epilogues
