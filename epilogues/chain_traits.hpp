// What Chain asks of its stages: which kind each is, whether their order is the contract's, and
// which stage of a kind there is.
#pragma once

#include <concepts>
#include <type_traits>

#include "weft/epilogues/activations.hpp"
#include "weft/epilogues/functor_checks.hpp"
#include "weft/epilogues/stages.hpp"

namespace weft::epilogues {

// A stage whose functor maps float to float, with or without the output coordinate, or a value of
// the output channel.
template <class Functor>
concept PlainActivation = requires(const Functor f, float x) {
  { f(x) } -> std::same_as<float>;
};
template <class Functor>
concept CoordinateActivation = requires(const Functor f, float x, const OutputCoord& at) {
  { f(x, at) } -> std::same_as<float>;
};
template <class Functor>
concept ChannelActivation = requires(const Functor f, float x) {
  { f(x, x) } -> std::same_as<float>;
  { f.ChannelValues() } -> std::same_as<const float*>;
};
// An activation whose run-time numbers an operator checks before it launches: a sentence about the
// first that is wrong, such as "scale is not a finite number above 0", or null.
template <class Functor>
concept ChecksItsNumbers = requires(const Functor f) {
  { f.WrongNumber() } -> std::same_as<const char*>;
};
template <class Functor>
concept Activation =
    PlainActivation<Functor> || CoordinateActivation<Functor> || ChannelActivation<Functor>;

template <class StageT>
inline constexpr bool kIsScale = std::is_base_of_v<internal::ScaleTag, StageT>;
template <class StageT>
inline constexpr bool kIsBias = std::is_base_of_v<internal::BiasTag, StageT>;
template <class StageT>
inline constexpr bool kIsResidual = std::is_base_of_v<internal::ResidualTag, StageT>;
template <class StageT>
inline constexpr bool kIsOutput = std::is_base_of_v<internal::OutputTag, StageT>;
template <class StageT>
inline constexpr bool kIsOutputScale = std::is_base_of_v<internal::OutputScaleTag, StageT>;
template <class StageT>
inline constexpr bool kIsCopy = std::is_base_of_v<internal::CopyTag, StageT>;
template <class StageT>
inline constexpr bool kIsRange = std::is_same_v<StageT, ChannelRange>;
template <class StageT>
inline constexpr bool kIsSums = std::is_base_of_v<internal::SumsTag, StageT>;
template <class StageT>
inline constexpr bool kIsPool = std::is_base_of_v<internal::PoolTag, StageT>;
template <class StageT>
inline constexpr bool kIsZeroPoint = std::is_base_of_v<internal::ZeroPointTag, StageT>;
template <class StageT>
inline constexpr bool kIsActivation =
    !kIsScale<StageT> && !kIsBias<StageT> && !kIsZeroPoint<StageT> && !kIsResidual<StageT> &&
    !kIsOutput<StageT> && !kIsOutputScale<StageT> && !kIsCopy<StageT> && !kIsRange<StageT> &&
    !kIsSums<StageT> && !kIsPool<StageT>;

// Whether an activation is meant for real values only.
template <class StageT>
inline constexpr bool kIsOfRealValues = std::is_base_of_v<OfRealValues, StageT>;
template <class Functor, class Type>
inline constexpr bool kIsOfRealValues<OnSteps<Functor, Type>> = true;

template <class StageT>
concept Stage = !kIsActivation<StageT> || Activation<StageT>;

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
template <class StageT>
struct WantBias : std::bool_constant<kIsBias<StageT>> {};
template <class StageT>
struct WantResidual : std::bool_constant<kIsResidual<StageT>> {};
template <class StageT>
struct WantCopy : std::bool_constant<kIsCopy<StageT>> {};
template <class StageT>
struct WantRange : std::bool_constant<kIsRange<StageT>> {};
template <class StageT>
struct WantSums : std::bool_constant<kIsSums<StageT>> {};
template <class StageT>
struct WantPool : std::bool_constant<kIsPool<StageT>> {};
template <class StageT>
struct WantChannelValues : std::bool_constant<kIsActivation<StageT> && ChannelActivation<StageT>> {
};
template <class StageT>
struct WantOutput : std::bool_constant<kIsOutput<StageT>> {};

// The format of a residual or a copy, if the output's is Dst.
template <class StageT, class Dst>
struct AuxiliaryFormat {
  using type = std::conditional_t<std::is_same_v<typename StageT::Layout, SameAsDst>, Dst,
                                  typename StageT::Layout>;
};
template <class Dst>
struct AuxiliaryFormat<void, Dst> {
  using type = Dst;
};

template <class StageT, class Default>
struct ElementOf {
  using type = typename StageT::Element;
};
template <class Default>
struct ElementOf<void, Default> {
  using type = Default;
};

// Calls an activation as kernels do, with a constant, for ConstantCall.
template <bool kPositive>
struct CallActivation {
  template <class Functor>
  constexpr float operator()(const Functor& f) const {
    const float x = kPositive ? 0.375f : -0.375f;
    if constexpr (PlainActivation<Functor>) {
      return f(x);
    } else if constexpr (ChannelActivation<Functor>) {
      return f(x, 0.25f);
    } else {
      return f(x, OutputCoord{});
    }
  }
};
template <class StageT>
constexpr bool ConstexprStage() {
  if constexpr (kIsActivation<StageT> && Activation<StageT>) {
    return kConstexprFunctor<StageT, CallActivation<true>, CallActivation<false>>;
  } else {
    return true;
  }
}

template <class StageT>
constexpr bool NarrowingStage() {
  if constexpr (kIsActivation<StageT>) {
    return kNarrows<StageT, float>;
  } else {
    return false;
  }
}

// Ranks of stages in the contract's order; an activation and a residual that follows one share a
// rank.
inline constexpr int kActivationRank = 4;
inline constexpr int kOutputScaleRank = 5;
// Whether StageT may also stand behind OutputScale: it rounds the output's steps, or looks at them.
template <class StageT>
inline constexpr bool kOfSteps = std::is_same_v<StageT, RoundFirst> || kIsCopy<StageT> ||
                                 kIsRange<StageT> || kIsSums<StageT> || kIsPool<StageT>;
template <class StageT>
constexpr int Rank() {
  if (kIsResidual<StageT>) return 0;
  if (std::is_same_v<StageT, SumBias> || kIsZeroPoint<StageT>) return 1;
  if (kIsScale<StageT>) return 2;
  if (kIsBias<StageT>) return 3;
  if (kIsOutputScale<StageT>) return kOutputScaleRank;
  return kIsOutput<StageT> ? kOutputScaleRank + 1 : kActivationRank;
}
template <class... Stages>
constexpr bool InContractOrder() {
  const int ranks[] = {Rank<Stages>()...};
  const bool of_steps[] = {kOfSteps<Stages>...};
  int seen = -1;
  for (int i = 0; i < int{sizeof...(Stages)}; ++i) {
    int rank = ranks[i];
    // A residual that follows an activation has the rank of one.
    if (rank == 0 && seen == kActivationRank) rank = kActivationRank;
    if (of_steps[i] && seen == kOutputScaleRank) rank = kOutputScaleRank;
    if (rank < seen) return false;
    seen = rank;
  }
  return true;
}

// Whether a stage keeps the order of what it is given; of Scale its inverse where alpha is negative.
template <class StageT>
inline constexpr bool kKeepsOrder =
    kIsScale<StageT> || kIsBias<StageT> || kIsOutputScale<StageT> || kIsOutput<StageT> ||
    kIsPool<StageT> || std::is_same_v<StageT, SumBias> || std::is_same_v<StageT, SourceZeroPoint> ||
    std::is_same_v<StageT, Identity> || std::is_same_v<StageT, Relu> ||
    std::is_same_v<StageT, Relu6> || std::is_same_v<StageT, RoundFirst>;

// Bytes of one value of an output stage; 0 for other stages.
template <class StageT>
constexpr int OutputBytes() {
  if constexpr (kIsOutput<StageT>) {
    return sizeof(typename StageT::Element);
  } else {
    return 0;
  }
}

// Whether activations of real values are followed by an OutputScale where the output is bytes.
template <class... Stages>
constexpr bool RealValuesAreScaled() {
  constexpr bool kReal = (kIsOfRealValues<Stages> || ...);
  return !kReal || (kIsOutputScale<Stages> || ...) || (OutputBytes<Stages>() + ...) != 1;
}

// Whether RoundFirst stands once, as the last activation: right before the output stage, or before
// image sums or a MaxPool that are.
template <class... Stages>
constexpr bool RoundsFirst() {
  const bool rounds[] = {std::is_same_v<Stages, RoundFirst>...};
  int count = 0;
  for (const bool round : rounds) count += round;
  constexpr int kLast =
      int{sizeof...(Stages)} - 2 - (int{kIsSums<Stages> || kIsPool<Stages>} + ... + 0);
  return count == 1 && kLast >= 0 && rounds[kLast < 0 ? 0 : kLast];
}

// Whether an activation other than a RoundFirst decides the last value before the output stage.
template <class... Stages>
constexpr bool EndsInActivation() {
  bool ends = false;
  const auto look = [&ends](bool changes, bool activation) { ends = changes ? activation : ends; };
  (look(!kIsOutput<Stages> && !kIsCopy<Stages> && !kIsRange<Stages> && !kIsSums<Stages> &&
            !kIsPool<Stages> && !std::is_same_v<Stages, RoundFirst>,
        kIsActivation<Stages>),
   ...);
  return ends;
}

// Whether stages that look at the integers of a ClampTo, which kLooks says of each stage, stand once at most, and
// right before it.
template <class... Stages>
constexpr bool OnceBeforeClamp(const bool (&looks)[sizeof...(Stages)]) {
  int count = 0;
  for (const bool look : looks) count += look;
  if (count == 0) return true;
  return count == 1 && sizeof...(Stages) > 1 && looks[sizeof...(Stages) - 2] &&
         ((OutputBytes<Stages>() == 1) || ...);
}
template <class... Stages>
constexpr bool SumsBeforeClamp() {
  return OnceBeforeClamp<Stages...>({kIsSums<Stages>...});
}
// The same of a MaxPool, and whether the chain has nothing that reads or writes a tensor of the convolution's pixels.
template <class... Stages>
constexpr bool PoolBeforeClamp() {
  const bool alone = !((kIsResidual<Stages> || kIsCopy<Stages> || kIsRange<Stages>) || ...);
  return OnceBeforeClamp<Stages...>({kIsPool<Stages>...}) && (alone || !(kIsPool<Stages> || ...));
}

}  // namespace internal

}  // namespace weft::epilogues
