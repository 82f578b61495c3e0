// Activations in operators, each exactly against the reference's own: one policy of simt and one of
// mma_sm80 for most, values of the channel through every store.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/policy/nc32_policies.hpp"
#include "tests/conv/policy/policies.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"
#include "tests/reference/activations.hpp"

namespace weft::conv {
namespace {

using namespace epilogues;  // NOLINT: a test file about them

template <class EpilogueT>
using Simt = TestPolicy<NCxHWx<4>, EpilogueT>;
template <class EpilogueT>
using Mma = Nc32Policy<NCxHWx<32>, EpilogueT, MmaSm80Tile<64, 64, 64, 32, 32, 3>>;

// Random problems; the sums are scaled to about [-20, 20], and most activations back to bytes.
template <class P, class Activation>
void RunActivation(const Activation& activation, typename P::Epilogue epilogue,
                   RunOptions options = {}, int problems = 6) {
  std::mt19937 engine(11);
  for (int i = 0; i < problems; ++i) {
    Problem problem = RandomProblem(engine);
    if (P::DstLayout::kChannelRun == 0) problem.k = RoundUp(problem.k, 4);
    options.seed = static_cast<std::uint32_t>(engine());
    ExpectMatchesReference<P>(problem, activation, options, epilogue);
    if (testing::Test::HasFailure()) return;
  }
}

// Each activation of the table between two scales.
template <template <class> class Policy, class F, class Activation>
void RunBetweenScales() {
  const bool is_bounded = F{}(100.0f) <= 1.0f;  // its results need finer steps
  RunActivation<Policy<BiasActivation<F>>>(Activation{}, {},
                                           {.output_scale = 1.0f / (is_bounded ? 127.0f : 7.3f)});
}
#define WEFT_ACTIVATION(functor, chain, of_reference, ...)      \
  TEST(ConvolutionActivations, functor##BetweenTwoScales) {     \
    RunBetweenScales<Simt, functor, reference::of_reference>(); \
  }
#include "weft/epilogues/activations.def"
TEST(ConvolutionActivations, BetweenTwoScalesOfTensorCores) {
  RunBetweenScales<Mma, Sigmoid, reference::SigmoidActivation>();
  RunBetweenScales<Mma, Gelu, reference::GeluActivation>();
}

// Quantised before the activation too, and a residual in real values behind it.
TEST(ConvolutionActivations, OnSteps) {
  using F = OnSteps<HSwish, std::uint8_t>;
  using E = Chain<Scale, Bias<>, F, Residual<std::int8_t>, OutputScale, ClampTo<std::int8_t>>;
  E epilogue;
  epilogue.Get<F>() = {.scale = 0.07f, .zero_point = 100.0f};
  // The harness makes the residual's gamma real by real_step, and alpha and beta steps.
  RunActivation<Simt<E>>(
      reference::OnStepsActivation<reference::HSwishActivation>{0.07f, -100, 155}, epilogue,
      {.gamma = 0.3f, .real_step = 1.0f, .late_residual = true});
}

// The ends of a byte as its zero point: no value below 0 is left, or none above.
TEST(ConvolutionActivations, OnStepsOfAnyZeroPoint) {
  using F = OnSteps<HSwish>;
  using E = BiasActivation<F>;
  for (const int zero_point : {-128, -3, 127}) {
    E epilogue;
    epilogue.Get<F>() = {.scale = 0.07f, .zero_point = static_cast<float>(zero_point)};
    RunActivation<Mma<E>>(
        reference::OnStepsActivation<reference::HSwishActivation>{0.07f, -128 - zero_point,
                                                                  127 - zero_point},
        epilogue, {.real_step = 1.0f}, 3);
  }
}

TEST(ConvolutionActivations, InFloat) {
  using ETanh = Chain<Scale, Bias<>, Tanh, ToFloat>;
  RunActivation<TestPolicy<NCHW, ETanh>>(reference::TanhActivation{}, {}, {.beta = 0.05f});
  using EGelu = Chain<Scale, Bias<>, GeluTanh, RoundTo<Half>>;
  RunActivation<Nc32Policy<NHWC, EGelu, MmaSm80Tile<64, 64, 64, 32, 32, 3, 8>>>(
      reference::GeluTanhActivation{}, {}, {.beta = 0.05f});
}

TEST(ConvolutionActivations, Leaky) {
  BiasLeakyRelu<> epilogue;
  epilogue.Get<LeakyRelu>().slope = 0.3f;
  RunActivation<Simt<BiasLeakyRelu<>>>(reference::LeakyReluActivation{0.3f}, epilogue);
}

// A slope for each channel: where a thread has runs of channels, single ones, and several groups of
// them; with a residual behind.
TEST(ConvolutionActivations, PRelu) {
  std::vector<float> slopes;
  for (int k = 0; k < 200; ++k) slopes.push_back(static_cast<float>(k % 7) * 0.13f - 0.2f);
  const OperatorMemory<float> memory(slopes);
  const reference::PReluActivation activation{slopes.data()};
  const auto run = [&]<class P>(RunOptions options = {}) {
    typename P::Epilogue epilogue;
    epilogue.template Get<PRelu>().slope = memory.get();
    RunActivation<P>(activation, epilogue, options);
  };
  run.template operator()<Simt<BiasPRelu<>>>();
  run.template operator()<Mma<BiasPRelu<>>>();
  run.template operator()<WithEpilogue<BiasPRelu<>>>();
  using Late = Chain<Scale, Bias<>, PRelu, Residual<std::uint8_t, NHWC>, ClampTo<std::int8_t>>;
  run.template operator()<Simt<Late>>({.gamma = -0.3f, .late_residual = true});
  using Plain = Chain<Scale, Bias<>, PRelu, ToFloat>;
  run.template operator()<WithEpilogue<Plain, NCHW, 4>>();
}

struct LookUp {
  const std::uint8_t* table;
  float operator()(float x) const {
    const float step = std::fmin(std::fmax(std::nearbyint(x), -256.0f), 255.0f);
    return static_cast<float>(table[static_cast<int>(step) + 256]);
  }
};

TEST(ConvolutionActivations, TablesAreLookedUp) {
  std::vector<std::uint8_t> values;
  for (int i = 0; i < Table<>::kValues; ++i) values.push_back(static_cast<std::uint8_t>(i * 37));
  const OperatorMemory<std::uint8_t> memory(values);
  using E = Chain<SumBias, Scale, Table<>, ClampTo<std::uint8_t>>;
  E epilogue;
  epilogue.Get<Table<>>().table = memory.get();
  RunActivation<Simt<E>>(LookUp{values.data()}, epilogue);
  RunActivation<Mma<E>>(LookUp{values.data()}, epilogue);
  RunActivation<WithEpilogue<E>>(LookUp{values.data()}, epilogue);
}

TEST(ConvolutionActivations, ChannelValuesAreChecked) {
  using P = Simt<BiasPRelu<>>;
  const auto op = Convolution<P>::Create(SquareProblem(1, 4, 4, 8, 1, 0, 1));
  ASSERT_TRUE(op.ok());
  const OperatorMemory<std::int8_t> src(std::vector<std::int8_t>(op->src_size()));
  const OperatorMemory<std::int8_t> dst(std::vector<std::int8_t>(op->dst_size()));
  const OperatorMemory<float> bias(std::vector<float>(8));
  const auto filter = PackFilter<CxRSKx<4>, KCRS, std::int8_t>(op->problem().filter(),
                                                               std::vector<std::int8_t>(32));
  const OperatorMemory<std::int8_t> packed({filter->data(), filter->data() + filter->size()});
  Convolution<P>::Arguments args;
  args.src = src.get(), args.filter = filter->At(packed.get());
  args.bias = bias.get(), args.dst = dst.get();
  EXPECT_EQ(op->CheckArguments(args).message(),
            "conv: args.epilogue's channel values are null; give the address of one number for "
            "each output channel, for PRelu args.epilogue.Get<PRelu>().slope");
  args.epilogue.Get<PRelu>().slope = reinterpret_cast<const float*>(dst.get() + 4);
  EXPECT_EQ(op->CheckArguments(args).message(),
            "conv: args.dst overlaps args.epilogue's channel values; blocks would read what others "
            "have written, so give dst memory of its own");
  args.epilogue.Get<PRelu>().slope =
      reinterpret_cast<const float*>(reinterpret_cast<const char*>(bias.get()) + 2);
  EXPECT_FALSE(op->CheckArguments(args).ok());
  args.epilogue.Get<PRelu>().slope = bias.get();
  EXPECT_TRUE(op->CheckArguments(args).ok());
}

}  // namespace
}  // namespace weft::conv
