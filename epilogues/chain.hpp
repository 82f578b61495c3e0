// Chain<Stages...>: an epilogue as a list of stages, applied left to right to a running float t
// that starts at 0:
//
//     Chain<Residual<>, Scale, Bias<>, HSwish, OutputScale, ClampTo<std::int8_t>>
//
// The list must follow the numerics contract: [Residual] [zero points] [SumBias] Scale [Bias]
// activations... [Residual] activations... [OutputScale] [RoundFirst], then exactly one output
// stage. Other lists are [zero points] [SumBias] ToSums, for the accumulators alone, and [Residual]
// Scale ToSums of doubles and complex numbers. A Copy and a ChannelRange stand among the
// activations, ImageSums or a MaxPool right before the output stage.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/epilogues/activations.hpp"
#include "weft/epilogues/chain_traits.hpp"
#include "weft/epilogues/exp_activations.hpp"
#include "weft/epilogues/functor_checks.hpp"
#include "weft/epilogues/quantized_add.hpp"
#include "weft/epilogues/stages.hpp"
#include "weft/epilogues/table.hpp"

namespace weft::epilogues {

namespace internal {

// Whether a stage is a residual with a zero point of its own.
template <class Stage>
constexpr bool HasZeroPoint() {
  if constexpr (kIsResidual<Stage>) {
    return Stage::kHasZeroPoint;
  } else {
    return false;
  }
}

// The residual's value less its zero point, if the stage has one.
template <class Stage, class Value>
constexpr Value ResidualOf(const Stage& stage, Value residual) {
  if constexpr (Stage::kHasZeroPoint) {
    return Add(residual, -stage.zero_point);
  } else {
    return residual;
  }
}

// The stages are nested by recursion instead of a std::tuple, which device code cannot use. Apply
// goes as far as the stage Until, or to the end.
template <class... Stages>
struct StageList {
  template <class Until = void, class Inputs>
  constexpr float Apply(float t, const Inputs&, const OutputCoord&, bool) const {
    return t;
  }
  constexpr const char* WrongNumber() const { return nullptr; }
};
template <class First, class... Rest>
struct StageList<First, Rest...> {
  // No [[no_unique_address]]: nvcc's device pass and g++ then lay the list out differently.
  First first;
  StageList<Rest...> rest;

  template <class Until = void, class Inputs>
  constexpr float Apply(float t, const Inputs& in, const OutputCoord& at,
                        bool is_first = true) const {
    if constexpr (std::is_same_v<First, Until>) {
      return t;
    } else if constexpr (kAddsSteps<First, Rest...>) {
      t = rest.first.template SumOfUnits<First>(first.Units(t), in.gamma, in.residual);
      return rest.rest.template Apply<Until>(t, in, at, false);
    } else if constexpr (kIsQuantizedAdd<First>) {
      t = first.Sum(t, in.gamma, in.residual);
    } else if constexpr (kIsResidual<First>) {
      const auto residual = ResidualOf(first, in.residual);
      t = is_first ? Mul(in.gamma, residual) : Fma(in.gamma, residual, t);
    } else if constexpr (kIsScale<First>) {
      t = Fma(in.alpha, static_cast<float>(in.accumulator), t);
    } else if constexpr (std::is_same_v<First, SumBias> || kIsZeroPoint<First>) {
      // WithSumBias has added it to the accumulator.
    } else if constexpr (kIsBias<First>) {
      t = Fma(in.beta, in.bias, t);
    } else if constexpr (kIsOutputScale<First>) {
      t = Mul(t, in.inverse_output_scale);
    } else if constexpr (kIsCopy<First> || kIsRange<First> || kIsSums<First> || kIsPool<First>) {
      // It does not change t: ValueAt() gives what it sees; image sums and MaxPool are of the output.
    } else if constexpr (kIsOutput<First>) {
      // The output stage converts t after Apply.
    } else if constexpr (PlainActivation<First>) {
      t = first(t);
    } else if constexpr (ChannelActivation<First>) {
      t = first(t, in.channel_value);
    } else {
      t = first(t, at);
    }
    return rest.template Apply<Until>(t, in, at, false);
  }

  constexpr const char* WrongNumber() const {
    if constexpr (ChecksItsNumbers<First>) {
      if (const char* wrong = first.WrongNumber(); wrong != nullptr) return wrong;
    }
    return rest.WrongNumber();
  }

  template <class StageT>
  constexpr StageT& Get() {
    if constexpr (std::is_same_v<StageT, First>) {
      return first;
    } else {
      static_assert(sizeof...(Rest) > 0, "weft: this epilogue Chain has no stage of that type");
      return rest.template Get<StageT>();
    }
  }
  template <class StageT>
  constexpr const StageT& Get() const {
    if constexpr (std::is_same_v<StageT, First>) {
      return first;
    } else {
      return rest.template Get<StageT>();
    }
  }
};

}  // namespace internal

template <class... Stages>
struct Chain {
  static_assert((Stage<Stages> && ...),
                "weft: every stage of an epilogue Chain is a built-in stage or a functor with "
                "`constexpr float operator()(float) const`, "
                "`constexpr float operator()(float, const OutputCoord&) const`, or "
                "`constexpr float operator()(float, float) const` and "
                "`constexpr const float* ChannelValues() const`");
  static_assert((int{internal::WantChannelValues<Stages>::value} + ... + 0) <= 1,
                "weft: an epilogue Chain has at most one activation with a value for each channel, "
                "such as PRelu");
  static_assert((int{kIsOutput<Stages>} + ... + 0) == 1,
                "weft: an epilogue Chain has exactly one output stage (ClampTo<T>, ToFloat or "
                "ToAccumulator)");
  static_assert((int{kIsScale<Stages>} + ... + 0) <= 1 && (int{kIsBias<Stages>} + ... + 0) <= 1 &&
                    (int{kIsResidual<Stages>} + ... + 0) <= 1,
                "weft: an epilogue Chain has at most one Scale, one of Bias and SumBias, and one "
                "Residual");
  static_assert((int{internal::kIsTable<Stages>} + ... + 0) <= 1,
                "weft: an epilogue Chain has at most one Table");
  static_assert((int{kIsOutputScale<Stages>} + ... + 0) <= 1,
                "weft: an epilogue Chain has at most one OutputScale");
  static_assert((int{kIsCopy<Stages>} + ... + 0) <= 1 && (int{kIsRange<Stages>} + ... + 0) <= 1,
                "weft: an epilogue Chain has at most one Copy and one ChannelRange");
  static_assert(internal::SumsBeforeClamp<Stages...>(),
                "weft: ImageSums or OnlyImageSums stands in an epilogue Chain once, right before "
                "ClampTo<T>, whose integers it adds up");
  static_assert(
      internal::PoolBeforeClamp<Stages...>(),
      "weft: MaxPool stands in an epilogue Chain once, right before ClampTo<T>, whose integers "
      "it looks at, and without Residual, Copy, ChannelRange and ImageSums");
  static_assert(internal::InContractOrder<Stages...>(),
                "weft: the stages of an epilogue Chain come in the order [Residual] "
                "[SourceZeroPoint] [FilterZeroPoint] [SumBias] [Scale] [Bias] activations, "
                "[OutputScale] [RoundFirst] output; a Residual may also follow an activation");
  static_assert(
      internal::RealValuesAreScaled<Stages...>(),
      "weft: an activation of real values (a row of epilogues/activations.def, or OnSteps<F>) "
      "stands in an epilogue Chain that ends in ClampTo<T> "
      "without an OutputScale behind it; add OutputScale, give args.alpha = sx * sw, so "
      "that the activation's argument is real, and args.output_scale = sy");
  static_assert((kBytesAreEnough<Stages> && ...),
                "weft: every stage of an epilogue Chain is default-constructible and trivially "
                "copyable, since its bytes are copied to the GPU; give an activation numbers and "
                "arrays as members, no std::vector, std::string or virtual functions");
  static_assert(
      (internal::ConstexprStage<Stages>() && ...),
      "weft: an activation of this epilogue Chain is not constexpr all through, so it has "
      "no GPU code; write `constexpr float operator()(float) const` and call only "
      "constexpr functions in it; if it is, give it `static constexpr` Sample() that returns one "
      "whose "
      "call can be tried");
  static_assert(
      !(internal::NarrowingStage<Stages>() || ...),
      "weft: an activation of this epilogue Chain takes another type than float, to which "
      "the call would convert and drop what does not fit; write "
      "`constexpr float operator()(float) const`");

  using BiasStage = typename internal::Find<internal::WantBias, Stages...>::type;
  using ResidualStage = typename internal::Find<internal::WantResidual, Stages...>::type;
  // A Chain without one has kValid = false, and ToFloat in its place.
  using OutputStage = typename internal::Find<internal::WantOutput, Stages..., ToFloat>::type;
  using CopyStage = typename internal::Find<internal::WantCopy, Stages...>::type;
  using RangeStage = typename internal::Find<internal::WantRange, Stages...>::type;
  using SumsStage = typename internal::Find<internal::WantSums, Stages...>::type;
  using PoolStage = typename internal::Find<internal::WantPool, Stages...>::type;
  using ChannelStage = typename internal::Find<internal::WantChannelValues, Stages...>::type;
  using TableStage = typename internal::Find<internal::WantTable, Stages...>::type;

  // Whether operators can be made of it (gemm/check/refused.hpp); false where a static_assert above has
  // said why not.
  static constexpr bool kValid = (int{kIsOutput<Stages>} + ... + 0) == 1;
  static constexpr bool kHasScale = (kIsScale<Stages> || ...);
  static constexpr bool kHasOutputScale = (kIsOutputScale<Stages> || ...);
  static constexpr bool kHasBias = !std::is_void_v<BiasStage>;
  static constexpr bool kBiasInSum = std::is_same_v<BiasStage, SumBias>;
  static constexpr bool kSourceZeroPoint = (std::is_same_v<Stages, SourceZeroPoint> || ...);
  static constexpr bool kFilterZeroPoint = (std::is_same_v<Stages, FilterZeroPoint> || ...);
  static constexpr bool kZeroPoints = kSourceZeroPoint || kFilterZeroPoint;
  static constexpr bool kRoundsFirst = internal::RoundsFirst<Stages...>();
  static constexpr bool kEndsInActivation = internal::EndsInActivation<Stages...>();
  static constexpr bool kHasResidual = !std::is_void_v<ResidualStage>;
  static constexpr bool kResidualZeroPoint = (internal::HasZeroPoint<Stages>() || ...);
  static constexpr bool kAddsQuantized = (internal::kIsQuantizedAdd<Stages> || ...);
  static constexpr bool kHasRange = !std::is_void_v<RangeStage>;
  static constexpr bool kHasCopy = !std::is_void_v<CopyStage>;
  static constexpr bool kHasSums = !std::is_void_v<SumsStage>;
  // Whether the outputs of a channel never decrease with their sums, or never increase where its alpha is negative.
  static constexpr bool kKeepsOrder = (internal::kKeepsOrder<Stages> && ...);
  static constexpr bool kHasPool = !std::is_void_v<PoolStage>;
  static constexpr bool kWritesOutput = !(std::is_same_v<Stages, OnlyImageSums> || ...);
  // The number of activations that compute more than a ReLU does.
  static constexpr int kActivations =
      (int{kIsActivation<Stages> && !std::is_same_v<Stages, Identity> &&
           !std::is_same_v<Stages, Relu>} +
       ... + 0);
  static constexpr bool kHasChannelValues = !std::is_void_v<ChannelStage>;
  static constexpr bool kHasTable = !std::is_void_v<TableStage>;
  static constexpr bool kNeedsCoordinate =
      ((kIsActivation<Stages> && !PlainActivation<Stages> && !ChannelActivation<Stages>) || ...);

  using BiasElement = typename internal::ElementOf<BiasStage, float>::type;
  // What a kernel holds of a channel's bias: StageInputs::sum_bias if kBiasInSum, else bias.
  using BiasValue = std::conditional_t<kBiasInSum, std::int32_t, float>;
  using ResidualElement = typename internal::ElementOf<ResidualStage, std::int8_t>::type;
  using Output = typename OutputStage::Element;
  // The format of the residual, if the output's is Dst.
  template <class Dst>
  using ResidualLayout = typename internal::AuxiliaryFormat<ResidualStage, Dst>::type;

  template <class Dst>
  using CopyLayout = typename internal::AuxiliaryFormat<CopyStage, Dst>::type;

  static_assert((int{std::is_same_v<Stages, SourceZeroPoint>} + ... + 0) <= 1 &&
                    (int{std::is_same_v<Stages, FilterZeroPoint>} + ... + 0) <= 1,
                "weft: an epilogue Chain has at most one SourceZeroPoint and one FilterZeroPoint");
  // Whether the stages compute in the accumulators' type, double or Complex, instead of float.
  static constexpr bool kInSums = [] {
    if constexpr (OutputStage::kOnlySums) {
      return kOwnArithmetic<typename OutputStage::Element> && kHasScale &&
             sizeof...(Stages) == 2 + int{kHasResidual} &&
             (!kHasResidual || std::is_same_v<ResidualElement, typename OutputStage::Element>);
    } else {
      return false;
    }
  }();
  static_assert(!kHasResidual || !kOwnArithmetic<ResidualElement> || kInSums,
                "weft: Residual<T> takes T = std::int8_t, std::uint8_t, float, weft::Half or "
                "weft::Bfloat16, and before Scale and ToSums<T> double or weft::Complex");
  // The type of alpha and gamma.
  using Value = std::conditional_t<kInSums, typename OutputStage::Element, float>;
  static_assert(!OutputStage::kOnlySums || kInSums ||
                    sizeof...(Stages) ==
                        1 + int{kBiasInSum} + int{kSourceZeroPoint} + int{kFilterZeroPoint},
                "weft: ToAccumulator (ToSums) writes the sums as they are, so no stage but SumBias "
                "and zero points may stand before it, and of doubles and complex numbers "
                "Residual of the same type and Scale; end the Chain in ToFloat or ClampTo<T> "
                "instead");
  static_assert(
      OutputStage::kOnlySums || kHasScale || !kValid,
      "weft: an epilogue Chain without a Scale stage never reads the sums; add Scale (its "
      "alpha is 1 unless given), or end a Chain of nothing else in ToAccumulator");

  internal::StageList<Stages...> stages;

  // The first stage of type StageT, to set run-time values: chain.Get<ClampRange>().high = 4.0f.
  template <class StageT>
  constexpr StageT& Get() {
    return stages.template Get<StageT>();
  }

  // With kHasChannelValues: the values of the one activation that has one for each output channel.
  constexpr const float* ChannelValues() const { return Get<ChannelStage>().ChannelValues(); }

  // What is wrong with an activation's numbers (ChecksItsNumbers); null if nothing is.
  constexpr const char* WrongNumber() const { return stages.WrongNumber(); }

  // The first stage of type StageT; below it, what a Copy or ChannelRange of that type sees of one
  // accumulator.
  template <class StageT>
  constexpr const StageT& Get() const {
    return stages.template Get<StageT>();
  }
  template <class StageT, class Sum>
  constexpr float ValueAt(const StageInputsOf<Sum>& inputs, const OutputCoord& at) const {
    const StageInputsOf<Sum> in = WithSumBias(inputs);
    return stages.template Apply<StageT>(0.0f, in, at);
  }

  // The value that an output stage with kSaturates rounds half to even and saturates. kShift:
  // whether to add the zero point; where that is 0 it may be left out, as only the sign of a 0
  // would change.
  template <bool kShift = true, class Sum>
  constexpr float Unrounded(const StageInputsOf<Sum>& inputs, const OutputCoord& at) const {
    const StageInputsOf<Sum> in = WithSumBias(inputs);
    float value;
    if constexpr (kRoundsFirst) {
      value = stages.template Apply<RoundFirst>(0.0f, in, at);
      if constexpr (kShift) {
        value = RoundFirst::AndAdd(value, in.zero_point);
      } else if constexpr (OutputStage::kRounds != Rounding::kHalfEven) {
        value = RoundFirst()(value);  // else the output stage rounds the same way itself
      }
    } else {
      value = stages.Apply(0.0f, in, at);
      if constexpr (kShift) value = OutputStage::Shift(value, in);
    }
    return OutputStage::BeforeHalfEven(value);
  }

  // The output value of one accumulator; a pure function, the same on both back ends.
  template <class Sum>
  constexpr Output operator()(const StageInputsOf<Sum>& inputs, const OutputCoord& at) const {
    if constexpr (kInSums) {
      static_assert(std::is_same_v<Output, Sum>,
                    "weft: ToSums<T> takes the type of the operator's sums");
      Output t{};
      if constexpr (kHasResidual) t = MulAdd(inputs.gamma, inputs.residual, t);
      return MulAdd(inputs.alpha, inputs.accumulator, t);
    } else {
      const StageInputsOf<Sum> in = WithSumBias(inputs);
      return OutputStage::Convert(stages.Apply(0.0f, in, at), in);
    }
  }

 private:
  template <class Sum>
  static constexpr StageInputsOf<Sum> WithSumBias(StageInputsOf<Sum> in) {
    if constexpr (kBiasInSum || kZeroPoints) {
      in.accumulator = SumBias::Add(in.accumulator, in.sum_bias);
    }
    return in;
  }
};

namespace internal {

template <class... Stages>
constexpr bool IsChain(const Chain<Stages...>*) {
  return true;
}
constexpr bool IsChain(const void*) {
  return false;
}

}  // namespace internal

// True for a Chain and for a struct that inherits one, which are all that operators accept as an
// epilogue. A struct of your own names a chain: its name, and not the list of stages, is what
// profilers and errors show.
//     struct MyEpilogue : weft::epilogues::Chain<...> {};
template <class Type>
struct IsChain : std::bool_constant<internal::IsChain(static_cast<const Type*>(nullptr))> {};

// Ready-made chains, int8 in and out. Their activations commute with a scale, so they work on steps
// of the output: alpha = sx * sw / sy, and the bias is in these steps.
template <class BiasT = float>
struct BiasIdentity : Chain<Scale, Bias<BiasT>, ClampTo<std::int8_t>> {};
template <class BiasT = float>
struct BiasRelu : Chain<Scale, Bias<BiasT>, Relu, ClampTo<std::int8_t>> {};
template <class BiasT = float>
struct BiasLeakyRelu : Chain<Scale, Bias<BiasT>, LeakyRelu, ClampTo<std::int8_t>> {};
template <class BiasT = float>
struct BiasPRelu : Chain<Scale, Bias<BiasT>, PRelu, ClampTo<std::int8_t>> {};
template <class BiasT = float>
struct ResidualBiasRelu : Chain<Residual<>, Scale, Bias<BiasT>, Relu, ClampTo<std::int8_t>> {};

// An activation of real values between two scales. alpha = sx * sw makes real values, to which a
// bias of float is added (for an int32 bias in steps of sx * sw, beta = sx * sw); output_scale = sy
// makes steps of the activation's result.
template <class Functor, class BiasT = float>
struct BiasActivation : Chain<Scale, Bias<BiasT>, Functor, OutputScale, ClampTo<std::int8_t>> {};
// BiasHSwish, BiasSilu and so on: one of each row of the table of activations.
#define WEFT_ACTIVATION(functor, chain, ...)                                           \
  static_assert(std::is_base_of_v<OfRealValues, functor>,                              \
                "weft: a functor of epilogues/activations.def inherits OfRealValues"); \
  template <class BiasT = float>                                                       \
  using chain = BiasActivation<functor, BiasT>;
#include "weft/epilogues/activations.def"
template <class BiasT = float>
using BiasClamp = BiasActivation<ClampRange, BiasT>;
// HSwish of a value that is quantised to int8 first, with scale s, which is the epilogue's
// Get<OnSteps<HSwish>>().scale: alpha = sx * sw / s, and the bias is in steps of s.
template <class BiasT = float>
using BiasHSwishOnSteps = BiasActivation<OnSteps<HSwish>, BiasT>;

// ONNX's QLinearConv, to Type = std::int8_t or std::uint8_t, and ConvInteger. Activations may be
// added before RoundFirst.
template <class Type = std::uint8_t>
struct QLinear : Chain<SourceZeroPoint, SumBias, Scale, RoundFirst, ClampTo<Type>> {};
struct ConvInteger : Chain<SourceZeroPoint, ToAccumulator> {};

}  // namespace weft::epilogues
