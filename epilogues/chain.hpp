// Chain<Stages...>: an epilogue as a list of stages, applied left to right to a running float t
// that starts at 0:
//
//     Chain<Residual<>, Scale, Bias<>, HSwish, ClampTo<std::int8_t>>
//
// The list must follow the numerics contract: [Residual] [Scale] [Bias] activations... [Residual]
// activations... then exactly one output stage.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "weft/epilogues/activations.hpp"
#include "weft/epilogues/stages.hpp"

namespace weft::epilogues {

// A stage whose functor maps float to float, with or without the output coordinate.
template <class F>
concept PlainActivation = requires(const F f, float x) {
  { f(x) } -> std::same_as<float>;
};
template <class F>
concept CoordinateActivation = requires(const F f, float x, const OutputCoord& at) {
  { f(x, at) } -> std::same_as<float>;
};
template <class F>
concept Activation = PlainActivation<F> || CoordinateActivation<F>;

template <class S>
inline constexpr bool kIsScale = std::is_base_of_v<internal::ScaleTag, S>;
template <class S>
inline constexpr bool kIsBias = std::is_base_of_v<internal::BiasTag, S>;
template <class S>
inline constexpr bool kIsResidual = std::is_base_of_v<internal::ResidualTag, S>;
template <class S>
inline constexpr bool kIsOutput = std::is_base_of_v<internal::OutputTag, S>;

template <class S>
concept Stage = kIsScale<S> || kIsBias<S> || kIsResidual<S> || kIsOutput<S> || Activation<S>;

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
struct WantOutput : std::bool_constant<kIsOutput<S>> {};

template <class S>
struct ElementOf {
  using type = typename S::Element;
};
template <>
struct ElementOf<void> {
  using type = void;
};

// Ranks of the contract's order; an activation and a late residual share one.
template <class S>
constexpr int Rank() {
  return kIsScale<S> ? 1 : kIsBias<S> ? 2 : kIsOutput<S> ? 4 : kIsResidual<S> ? 0 : 3;
}
template <class... Stages>
constexpr bool InContractOrder() {
  const int ranks[] = {Rank<Stages>()...};
  int seen = -1;
  for (int rank : ranks) {
    const int effective = rank == 0 && seen == 3 ? 3 : rank;  // a residual after an activation
    if (effective < seen) return false;
    seen = effective;
  }
  return true;
}

// Stages are kept by recursion, not in a std::tuple, which device code cannot use.
template <class... Stages>
struct StageList {
  template <class Inputs>
  constexpr float Apply(float t, const Inputs&, const OutputCoord&, bool) const {
    return t;
  }
};
template <class First, class... Rest>
struct StageList<First, Rest...> {
  // No [[no_unique_address]]: nvcc's device pass and g++ then lay the list out differently.
  First first;
  StageList<Rest...> rest;

  template <class Inputs>
  constexpr float Apply(float t, const Inputs& in, const OutputCoord& at,
                        bool is_first = true) const {
    if constexpr (kIsResidual<First>) {
      t = is_first ? Mul(in.gamma, in.residual) : Fma(in.gamma, in.residual, t);
    } else if constexpr (kIsScale<First>) {
      t = Fma(in.alpha, static_cast<float>(in.accumulator), t);
    } else if constexpr (kIsBias<First>) {
      t = Fma(in.beta, in.bias, t);
    } else if constexpr (kIsOutput<First>) {
      // Convert() does it.
    } else if constexpr (PlainActivation<First>) {
      t = first(t);
    } else {
      t = first(t, at);
    }
    return rest.Apply(t, in, at, false);
  }

  template <class S>
  constexpr S& Get() {
    if constexpr (std::is_same_v<S, First>) {
      return first;
    } else {
      static_assert(sizeof...(Rest) > 0, "weft: this epilogue Chain has no stage of that type");
      return rest.template Get<S>();
    }
  }
};

}  // namespace internal

template <class... Stages>
struct Chain {
  static_assert((Stage<Stages> && ...),
                "weft: every stage of an epilogue Chain is a built-in stage or a functor with "
                "`constexpr float operator()(float) const` or "
                "`constexpr float operator()(float, const OutputCoord&) const`");
  static_assert((int{kIsOutput<Stages>} + ... + 0) == 1,
                "weft: an epilogue Chain has exactly one output stage (ClampTo<T>, ToFloat or "
                "ToAccumulator)");
  static_assert((int{kIsScale<Stages>} + ... + 0) <= 1 && (int{kIsBias<Stages>} + ... + 0) <= 1 &&
                    (int{kIsResidual<Stages>} + ... + 0) <= 1,
                "weft: an epilogue Chain has at most one Scale, one Bias and one Residual");
  static_assert(internal::InContractOrder<Stages...>(),
                "weft: the stages of an epilogue Chain come in the order [Residual] [Scale] [Bias] "
                "activations, output; a Residual may also follow an activation");

  using BiasStage = typename internal::Find<internal::WantBias, Stages...>::type;
  using ResidualStage = typename internal::Find<internal::WantResidual, Stages...>::type;
  using OutputStage = typename internal::Find<internal::WantOutput, Stages...>::type;

  static constexpr bool kHasScale = (kIsScale<Stages> || ...);
  static constexpr bool kHasBias = !std::is_void_v<BiasStage>;
  static constexpr bool kHasResidual = !std::is_void_v<ResidualStage>;
  static constexpr bool kNeedsCoordinate =
      ((!kIsScale<Stages> && !kIsBias<Stages> && !kIsResidual<Stages> && !kIsOutput<Stages> &&
        !PlainActivation<Stages>) ||
       ...);

  using BiasElement = typename internal::ElementOf<BiasStage>::type;          // void if none
  using ResidualElement = typename internal::ElementOf<ResidualStage>::type;  // void if none
  using Output = typename OutputStage::Element;

  internal::StageList<Stages...> stages;

  // The first stage of type S, to set run-time values: chain.Get<ClampRange>().high = 4.0f.
  template <class S>
  constexpr S& Get() {
    return stages.template Get<S>();
  }

  // The value that an output stage with kSaturates rounds and saturates.
  template <class Sum>
  constexpr float Unrounded(const StageInputsOf<Sum>& in, const OutputCoord& at) const {
    return OutputStage::Shift(stages.Apply(0.0f, in, at), in);
  }

  // The output value of one accumulator; a pure function, the same on both back ends.
  template <class Sum>
  constexpr Output operator()(const StageInputsOf<Sum>& in, const OutputCoord& at) const {
    return OutputStage::Convert(stages.Apply(0.0f, in, at), in);
  }
};

// True for instances of Chain; operators accept nothing else as an epilogue.
template <class T>
struct IsChain : std::false_type {};
template <class... Stages>
struct IsChain<Chain<Stages...>> : std::true_type {};

// Ready-made chains, int8 in and out.
template <class BiasT = float>
using BiasIdentity = Chain<Scale, Bias<BiasT>, ClampTo<std::int8_t>>;
template <class BiasT = float>
using BiasRelu = Chain<Scale, Bias<BiasT>, Relu, ClampTo<std::int8_t>>;
template <class BiasT = float>
using BiasHSwish = Chain<Scale, Bias<BiasT>, HSwish, ClampTo<std::int8_t>>;
template <class BiasT = float>
using ResidualBiasRelu = Chain<Residual<>, Scale, Bias<BiasT>, Relu, ClampTo<std::int8_t>>;

}  // namespace weft::epilogues
