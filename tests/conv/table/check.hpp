// Runs an operator of the table on its problems and compares every output with the reference, exactly.
// Compiled by g++ the operator runs on the CPU, compiled by nvcc on the GPU.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "tests/conv/harness.hpp"
#include "tests/conv/table/problems/problems.hpp"
#include "tests/conv/table/problems/source_functors.hpp"
#include "tests/conv/table/problems/tensors.hpp"
#include "weft/conv/plan/policy_facts.hpp"

namespace weft::conv::table {

// What the reference calls the activation of a chain, or of a type derived from one.
template <class Epilogue>
struct ActivationOf {
  template <class Stage, class... Stages>
  static constexpr bool Has(const epilogues::Chain<Stages...>*) {
    return (std::is_same_v<Stages, Stage> || ...);
  }
  template <class Stage>
  static constexpr bool kHas = Has<Stage>(static_cast<const Epilogue*>(nullptr));
  using type =
      std::conditional_t<kHas<epilogues::Relu>, reference::ReluActivation,
                         std::conditional_t<kHas<epilogues::HSwish>, reference::HSwishActivation,
                                            reference::NoActivation>>;
};

template <class OutputStage>
struct RangeOf {
  static constexpr auto value = FullRange<typename OutputStage::Element>();
};
template <class T, int kLow, int kHigh>
struct RangeOf<epilogues::ClampTo<T, kLow, kHigh>> {
  static constexpr reference::OutputRange<T> value{kLow, kHigh};
};

// Random values for P, whose outputs are spread over its range and are clamped here and there.
template <class P>
RandomTensors TensorsFor(const Problem& problem, std::uint32_t seed, std::int64_t filters) {
  constexpr int kSrcBits = kIsInt4<typename P::SrcLayout> ? 4 : 8;
  RandomTensors t(problem, seed, filters, kIsInt4<typename P::FilterLayout> ? 4 : 8, kSrcBits);
  constexpr auto kRange = RangeOf<typename P::Epilogue::OutputStage>::value;
  if (kRange.high > 0) {
    const float part = static_cast<float>(kRange.high - kRange.low) / 255.0f;
    for (float& alpha : t.channel_alpha) alpha *= part;
    for (float& bias : t.bias) bias *= part;
  }
  return t;
}

// The functor for the reference, and the same for the operator where its arrays lie.
template <class Functor>
struct FunctorPair {
  explicit FunctorPair(const Problem&) {}
  Functor here, there;
};
template <>
struct FunctorPair<Requantise> {
  explicit FunctorPair(const Problem& p)
      : scales(Scales(p)),
        offsets(Offsets(p)),
        scale(scales),
        offset(offsets),
        here{scales.data(), offsets.data()},
        there{scale.get(), offset.get()} {}
  static std::vector<float> Scales(const Problem& p) {
    std::vector<float> all;
    for (std::int64_t c = 0; c < p.c; ++c) all.push_back(0.5f + 0.01f * static_cast<float>(c));
    return all;
  }
  static std::vector<float> Offsets(const Problem& p) {
    std::vector<float> all;
    for (std::int64_t c = 0; c < p.c; ++c) all.push_back(static_cast<float>(c % 7) - 20.0f);
    return all;
  }
  const std::vector<float> scales, offsets;
  const OperatorMemory<float> scale, offset;
  Requantise here, there;
};

// how: under which schedule of the executor, and where its counts go.
template <class P>
void ExpectExact(const Problem& problem, std::uint32_t seed, const RunOptions& how = {}) {
  using Epilogue = typename P::Epilogue;
  using Output = typename Epilogue::Output;
  using Source = SourceElement<P>;
  SCOPED_TRACE(absl::StrCat(ToString(problem), " seed ", seed));
  const absl::StatusOr<Convolution<P>> op = Convolution<P>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();

  const PrologueBank<typename P::Prologue> bank(problem, seed);
  const RandomTensors tensors = TensorsFor<P>(problem, seed, bank.filters);
  // Values of four bits without a sign are the low ones.
  constexpr bool kLowBits = kIsInt4<typename P::SrcLayout> && std::is_unsigned_v<Source>;
  std::vector<Source> raw;
  for (const std::int8_t x : tensors.src) {
    raw.push_back(static_cast<Source>(kLowBits ? x & 15 : x));
  }
  const FunctorPair<SourceFunctorOf<P>> functor(problem);
  std::vector<std::int16_t> values;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if constexpr (kConvertsSource<P>) {
      const auto c = static_cast<std::int64_t>(i) / (problem.h * problem.w) % problem.c;
      values.push_back(functor.here(raw[i], static_cast<int>(c)));
    } else {
      values.push_back(raw[i]);
    }
  }
  const auto packed = PackBank<typename P::Prologue, typename P::FilterLayout>(
      problem, bank.filters, tensors.filter);
  const auto* bytes = reinterpret_cast<const std::int8_t*>(packed.data());
  const OperatorMemory<std::int8_t> filter(std::vector<std::int8_t>(bytes, bytes + packed.bytes()));
  const OperatorMemory<Source> src(
      ConvertTensor<NCHW, typename P::SrcLayout, Source>(problem.src(), raw).value());

  RunOptions options = how;
  options.seed = seed, options.per_tensor_alpha = seed % 4 == 0;
  if (Epilogue::kHasBias && !Epilogue::kBiasInSum) options.beta = 0.75f;
  constexpr auto kRange = RangeOf<typename Epilogue::OutputStage>::value;
  const float part = kRange.high > 0 ? static_cast<float>(kRange.high - kRange.low) / 255.0f : 1.0f;
  if (Epilogue::kHasResidual) options.gamma = -0.7f * part;
  if (std::is_same_v<Output, std::uint8_t>) options.zero_point = 6.0f;
  const Results<Epilogue, typename P::DstLayout> results(problem, tensors, options);
  typename Convolution<P>::Arguments args;
  results.Fill(&args);
  args.src = src.get();
  args.filter = packed.At(filter.get());
  args.prologue = bank.prologue;
  args.filter_is_constant = seed % 2 == 0;
  if constexpr (kConvertsSource<P>) args.source_functor = functor.there;
  const absl::Status status = RunHere(*op, args, options);
  ASSERT_TRUE(status.ok()) << status;

  const std::vector<std::int64_t> sums = ExactSums(problem, values, tensors.filter, bank.which);
  const typename ActivationOf<Epilogue>::type activation;
  std::vector<Output> want;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const std::int64_t k = index / (problem.p() * problem.q()) % problem.k;
    want.push_back(reference::Converted<Output>(sums[i], k, index, results.data(), activation,
                                                RangeOf<typename Epilogue::OutputStage>::value));
  }
  results.ExpectEqual(want);
}

// Every problem of the table; stops at the first that is wrong.
template <class P>
void ExpectExactOnEveryProblem(Rows rows = Rows::kPairwise) {
  std::uint32_t seed = 1;
  for (const Problem& problem : ProblemsFor(FactsOf<P>(), rows)) {
    ExpectExact<P>(problem, seed++);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace weft::conv::table
