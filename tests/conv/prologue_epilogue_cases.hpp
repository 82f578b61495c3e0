// Prologues with every kind of epilogue: the rows of a tile are other pixels than those of the
// ordinary convolution, so everything that is read or chosen by an output's place can go wrong.
#pragma once

#include "tests/conv/prologue_cases.hpp"

namespace weft::conv {

// The output's coordinates as a number, exact in a float: n, p, q below 16, k below 1024.
struct Where {
  constexpr float operator()(float, const epilogues::OutputCoord& at) const {
    return static_cast<float>(((at.n * 1024 + at.k) * 16 + at.p) * 16 + at.q);
  }
};

namespace {

using namespace epilogues;  // NOLINT: a test file about them
using prologues::Grouped;
using prologues::LocalBlock;
using prologues::LocalFilter;
using prologues::PerSample;

using OtherResidual = Chain<Residual<std::int8_t, NHWC>, Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
using Unsigned = Chain<Scale, Bias<std::int32_t>, ClampTo<std::uint8_t>>;
using FloatHSwish = Chain<Scale, Bias<>, HSwish, ToFloat>;

// Each epilogue with each prologue and with each mainloop: two prologues through one, two through the
// other. An epilogue knows neither, only the map of a tile's rows to pixels, which they share.
template <class PrologueT>
class PrologueEpilogue : public testing::Test {
 protected:
  template <bool kMma, class E>
  using Dst = std::conditional_t<std::is_same_v<typename E::Output, float>, NCHW,
                                 std::conditional_t<kMma, NCxHWx<32>, NCxHWx<4>>>;
  template <bool kMma, class E, class DstLayout>
  using Policy =
      std::conditional_t<kMma, Nc32Prologue<PrologueT, DstLayout, 32, 64, 64, 32, 32, 3, 4, E>,
                         Nc4Prologue<PrologueT, DstLayout, SmallTile<4>, E>>;

  // Which half the prologue belongs to.
  static constexpr bool kFirst =
      std::is_same_v<PrologueT, PerSample> || std::is_same_v<PrologueT, LocalBlock<2, 3>>;

  template <bool kMma, class E, class DstLayout = Dst<kMma, E>, class Activation>
  static void Run(const Activation& activation, RunOptions options = {}) {
    options.seed = 5;
    RunPrologueCorners<Policy<kMma, E, DstLayout>>(activation, options);
  }
};

using EpiloguePrologues = testing::Types<PerSample, LocalFilter, LocalBlock<2, 3>, Grouped>;
struct PrologueName {
  template <class PrologueT>
  static std::string GetName(int) {
    return PrologueTestName::Letters(PrologueT::kName);
  }
};
TYPED_TEST_SUITE(PrologueEpilogue, EpiloguePrologues, PrologueName);

TYPED_TEST(PrologueEpilogue, Residual) {
  TestFixture::template Run<TestFixture::kFirst, ResidualBiasRelu<>>(reference::ReluActivation{},
                                                                     {.gamma = 0.7f});
}

TYPED_TEST(PrologueEpilogue, ResidualOfAnotherLayout) {
  TestFixture::template Run<!TestFixture::kFirst, OtherResidual>(reference::ReluActivation{},
                                                                 {.gamma = 0.7f});
}

TYPED_TEST(PrologueEpilogue, HSwishToTheOtherBlocks) {
  constexpr bool kMma = !TestFixture::kFirst;
  using Other = std::conditional_t<kMma, NCxHWx<4>, NCxHWx<32>>;
  TestFixture::template Run<kMma, BiasHSwish<>, Other>(reference::HSwishActivation{});
}

TYPED_TEST(PrologueEpilogue, FloatOutput) {
  TestFixture::template Run<TestFixture::kFirst, FloatHSwish>(reference::HSwishActivation{},
                                                              {.beta = 0.05f});
}

TYPED_TEST(PrologueEpilogue, UnsignedOutputWithInt32BiasAndZeroPoint) {
  TestFixture::template Run<!TestFixture::kFirst, Unsigned>(
      reference::NoActivation{}, {.per_tensor_alpha = true, .beta = 0.37f, .zero_point = 128.0f});
}

// The coordinates that an activation sees are those of its output.
template <class P>
void ExpectCoordinates(const Problem& corner) {
  const Problem p = FitTo<P>(corner, 3);
  SCOPED_TRACE(ToString(p));
  using Prologue = typename P::Prologue;
  const absl::StatusOr<Convolution<P>> op = Convolution<P>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  const PrologueBank<Prologue> bank(p, 1);
  const RandomTensors t(p, 1, bank.filters);
  const auto filters = PackFilters<Prologue, typename P::FilterLayout, KCRS, std::int8_t>(
      p.filter(), bank.filters, t.filter);
  ASSERT_TRUE(filters.ok()) << filters.status();
  const OperatorMemory<std::int8_t> src(
      *ConvertTensor<NCHW, typename P::SrcLayout, std::int8_t>(p.src(), t.src));
  const OperatorMemory<std::int8_t> packed({filters->data(), filters->data() + filters->size()});
  const OperatorMemory<float> dst(std::vector<float>(op->dst_size(), -1.0f));
  typename Convolution<P>::Arguments args;
  args.src = src.get(), args.filter = filters->At(packed.get()), args.dst = dst.get();
  args.prologue = bank.prologue;
  const absl::Status status = RunHere(*op, args);
  ASSERT_TRUE(status.ok()) << status;
  const std::vector<float> got = dst.Read();
  std::int64_t i = 0, wrong = 0;
  for (std::int64_t n = 0; n < p.n; ++n) {
    for (std::int64_t k = 0; k < p.k; ++k) {
      for (std::int64_t row = 0; row < p.p(); ++row) {
        for (std::int64_t column = 0; column < p.q(); ++column, ++i) {
          const auto want = static_cast<float>(((n * 1024 + k) * 16 + row) * 16 + column);
          if (got[i] != want && ++wrong <= 3) ADD_FAILURE() << got[i] << " is not " << want;
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << i;
}

TYPED_TEST(PrologueEpilogue, Coordinates) {
  using E = Chain<Scale, Where, ToFloat>;
  for (const Problem& corner : PrologueCorners()) {
    ExpectCoordinates<typename TestFixture::template Policy<TestFixture::kFirst, E, NCHW>>(corner);
  }
}

}  // namespace
}  // namespace weft::conv
