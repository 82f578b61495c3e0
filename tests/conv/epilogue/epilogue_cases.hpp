// The stages of the numerics contract, fused in the kernel.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/policy/policies.hpp"

namespace weft::conv {

// A user's own activation: the six lines.
struct Bent {
  float slope = 0.01f;
  constexpr float operator()(float x) const { return x > 1.0f ? x : slope * x; }
};

// An activation that looks at where it is: a checkerboard over p and q, different for odd k.
struct Checkerboard {
  constexpr float operator()(float x, const epilogues::OutputCoord& at) const {
    return (at.n + at.k + at.p + at.q) % 2 == 0 ? x : 0.0f;
  }
};

namespace {

using namespace epilogues;  // NOLINT: a test file about them

const Problem kSmall = [] {
  Problem p = SquareProblem(2, 11, 7, 37, 3, 1, 1);
  p.pad_right = 2;
  return p;
}();
const Problem kPointwise = SquareProblem(3, 19, 6, 41, 1, 0, 2);

template <class P, class Activation>
void RunBoth(const Activation& activation, RunOptions options = {},
             typename P::Epilogue epilogue = {},
             reference::OutputRange<typename P::Epilogue::Output> range =
                 FullRange<typename P::Epilogue::Output>()) {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    options.seed = seed;
    ExpectMatchesReference<P>(kSmall, activation, options, epilogue, range);
    ExpectMatchesReference<P>(kPointwise, activation, options, epilogue, range);
  }
}

// Small sums, so that the bend of the curve is exercised and not only its straight ends.
TEST(ConvolutionEpilogue, HSwishNearZero) {
  using P = TestPolicy<NCHW, Chain<Scale, Bias<>, epilogues::HSwish, ToFloat>>;
  RunBoth<P>(reference::HSwishActivation{}, {.beta = 0.05f});
}

TEST(ConvolutionEpilogue, ClampWithRunTimeLimits) {
  using E = Chain<Scale, Bias<>, ClampRange, ClampTo<std::int8_t>>;
  E epilogue;
  epilogue.Get<ClampRange>() = {-10.5f, 20.5f};
  RunBoth<TestPolicy<NCxHWx<4>, E>>(
      [](float x) { return x < -10.5f  ? -10.5f
                           : x > 20.5f ? 20.5f
                                       : x; }, {}, epilogue);
}

TEST(ConvolutionEpilogue, UsersOwnActivation) {
  using E = Chain<Scale, Bias<>, Bent, ClampTo<std::int8_t>>;
  E epilogue;
  epilogue.Get<Bent>().slope = 0.3f;
  RunBoth<TestPolicy<NCxHWx<4>, E>>([](float x) { return x > 1.0f ? x : 0.3f * x; }, {}, epilogue);
}

TEST(ConvolutionEpilogue, ActivationWithCoordinates) {
  using P = TestPolicy<NCHW, Chain<Scale, Checkerboard, ToFloat>>;
  const Problem p = SquareProblem(2, 5, 5, 6, 3, 1, 1);
  // The reference's activation sees no coordinate, so compare with a run without the checkerboard.
  using Plain = TestPolicy<NCHW, Chain<Scale, ToFloat>>;
  const auto run = [&]<class Policy>(Policy) {
    auto op = Convolution<Policy>::Create(p);
    EXPECT_TRUE(op.ok());
    const RandomTensors t(p, 3);
    const OperatorMemory<std::int8_t> src(
        *ConvertTensor<NCHW, NCxHWx<4>, std::int8_t>(p.src(), t.src));
    const auto filter = *PackFilter<CxRSKx<4>, KCRS, std::int8_t>(p.filter(), t.filter);
    const OperatorMemory<std::int8_t> packed({filter.data(), filter.data() + filter.size()});
    const OperatorMemory<float> dst(std::vector<float>(op->dst_size()));
    typename Convolution<Policy>::Arguments args;
    args.src = src.get(), args.filter = filter.At(packed.get()), args.dst = dst.get();
    EXPECT_TRUE(RunHere(*op, args).ok());
    return dst.Read();
  };
  const std::vector<float> got = run(P{}), plain = run(Plain{});
  int nonzero = 0;
  for (std::int64_t n = 0, i = 0; n < p.n; ++n) {
    for (std::int64_t k = 0; k < p.k; ++k) {
      for (std::int64_t row = 0; row < p.p(); ++row) {
        for (std::int64_t column = 0; column < p.q(); ++column, ++i) {
          EXPECT_EQ(got[i], (n + k + row + column) % 2 == 0 ? plain[i] : 0.0f);
          nonzero += got[i] != 0.0f;
        }
      }
    }
  }
  EXPECT_GT(nonzero, 100);
}

}  // namespace
}  // namespace weft::conv
