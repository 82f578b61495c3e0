// Convolutions through the warpgroup products of sm_90a whose tiles hold two output rows.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/prologue_cases.hpp"
#include "tests/conv/run_random.hpp"
#include "tests/conv/wgmma_policies.hpp"
#include "weft/conv/ready_made_tiles.hpp"

namespace weft::conv {

// Where an output is, as a number that a byte holds.
struct PlaceModulo {
  constexpr float operator()(float, const epilogues::OutputCoord& at) const {
    return static_cast<float>((at.n * 53 + at.k * 5 + at.p * 17 + at.q) % 127);
  }
};

namespace {

using epilogues::BiasRelu;
using epilogues::Chain;
using epilogues::ClampTo;
using epilogues::Scale;
using epilogues::ToFloat;

// Even and odd numbers of output rows, one of them; few channels and all; channels of several
// blocks; filters of every height, with strides that divide it and others.
template <class P>
void RunStacked(std::int64_t multiple_c = 1, std::int64_t multiple_k = 1) {
  const reference::ReluActivation relu;
  for (std::int64_t r = 2; r <= 5; ++r) {
    for (std::int64_t stride = 1; stride <= 2; ++stride) {
      if (r <= stride) continue;
      const std::int64_t k = std::array{32, 5, 1, 17}[r - 2];
      Problem p = SquareProblem(2, 40, 7, RoundUp(k, multiple_k), r, r / 2, stride);
      p.c = RoundUp(p.c, multiple_c);
      p.w = 10, p.s = 3, p.stride_w = 1;
      ExpectMatchesReference<P>(p, relu);
      p.h = 8, p.pad_top = 0;
      ExpectMatchesReference<P>(p, relu);
      p.mode = Mode::kConvolution;
      p.pad_left = 0, p.stride_w = stride, p.n = 1;
      ExpectMatchesReference<P>(p, relu);
      p.h = r, p.pad_bottom = 0;  // one output row
      ExpectMatchesReference<P>(p, relu);
    }
  }
}

// Runs P, whose activation is PlaceModulo.
template <class P>
void ExpectPlaces() {
  Problem p = SquareProblem(2, 32, 7, 32, 3, 1, 1);
  p.w = 6;
  const auto op = Convolution<P>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  using Output = typename P::Epilogue::Output;
  const OperatorMemory<std::int8_t> src(std::vector<std::int8_t>(op->src_size()));
  const auto packed = PackFilter<typename P::FilterLayout, KCRS, std::int8_t>(
                          p.filter(), std::vector<std::int8_t>(KCRS::Size(p.filter())))
                          .value();
  const OperatorMemory<std::int8_t> filter({packed.data(), packed.data() + packed.size()});
  const OperatorMemory<Output> dst(std::vector<Output>(op->dst_size()));
  typename Convolution<P>::Arguments args;
  args.src = src.get(), args.filter = packed.At(filter.get()), args.dst = dst.get();
  const absl::Status status = RunHere(*op, args, {});
  ASSERT_TRUE(status.ok()) << status;
  const std::vector<Output> result = dst.Read();
  for (std::int64_t i = 0; i < p.n * p.k * p.p() * p.q(); ++i) {
    const std::int64_t q = i % p.q(), row = i / p.q() % p.p(), k = i / (p.q() * p.p()) % p.k;
    const std::int64_t n = i / (p.q() * p.p() * p.k);
    ASSERT_EQ(result[P::DstLayout::Offset(p.dst(), n, k, row, q)],
              static_cast<Output>((n * 53 + k * 5 + row * 17 + q) % 127))
        << n << " " << k << " " << row << " " << q;
  }
}

TEST(WgmmaStack, Nc32ToNc32) {
  RunStacked<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Stacked32>>();
}

TEST(WgmmaStack, Nc32ToOthers) {
  RunStacked<WgmmaPolicy<NCxHWx<4>, BiasRelu<>, Stacked<WgmmaTile<24, 64, 32, 24, 64, 2, 4>>>>();
  RunStacked<WgmmaPolicy<NCxHWx<64>, BiasRelu<>, Stacked32>>();
  RunStacked<WgmmaPolicy<NHWC, BiasRelu<>, Stacked<WgmmaTile<64, 64, 64, 32, 64, 2, 16>>>>(1, 16);
  RunStacked<WgmmaPolicy<NHWC, BiasRelu<>, Stacked<WgmmaTile<16, 64, 64, 16, 64, 1, 1>>>>();
  RunStacked<WgmmaPolicy<NCHW, BiasRelu<>, Stacked<WgmmaTile<8, 64, 64, 8, 64, 2, 1>>>>();
}

TEST(WgmmaStack, Nhwc) {
  RunStacked<WgmmaNhwcPolicy<NHWC, BiasRelu<>, Stacked32>>(16, 16);
  RunStacked<WgmmaNhwcPolicy<NCxHWx<32>, BiasRelu<>, Stacked<WgmmaTile<48, 64, 128, 48, 64>>>>(16);
}

// More tiles than blocks; one and two warpgroups, blocks of a cluster; as many steps as a slice can
// have.
TEST(WgmmaStack, Tiles) {
  const reference::ReluActivation relu;
  const auto run = [&]<class TileT>() {
    using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, TileT>;
    ExpectMatchesReference<P>(SquareProblem(3, 96, 13, 32, 3, 1, 1), relu);
    Problem wide = SquareProblem(2, 64, 5, 32, 3, 1, 1);
    wide.w = 160;
    ExpectMatchesReference<P>(wide, relu);
    ExpectMatchesReference<P>(
        SquareProblem(1, 32, 17, 20, TileT::config.blocks_per_sm == 1 ? 7 : 4, 3, 1), relu);
  };
  run.template operator()<Wgmma160x64Stacked>();
  run.template operator()<Wgmma256x64Stacked>();
  run.template operator()<Wgmma64x64Stacked>();
  run.template operator()<Stacked<WgmmaTile<256, 64, 128, 64, 64>>>();
  run.template operator()<Stacked<Split<WgmmaTile<64, 64, 64, 32, 64>, 2>>>();
}

// Strides that the filter's height is no multiple of, and dilations that divide them.
TEST(WgmmaStack, StridesAndDilations) {
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Stacked<WgmmaTile<32, 64, 64, 32, 64>>>;
  const reference::ReluActivation relu;
  for (const Mode mode : {Mode::kCrossCorrelation, Mode::kConvolution}) {
    Problem p = SquareProblem(2, 64, 22, 30, 5, 2, 3);
    p.mode = mode, p.s = 2, p.stride_w = 1, p.dilation_w = 2;
    ExpectMatchesReference<P>(p, relu);
    p.stride_h = 4, p.dilation_h = 2;
    ExpectMatchesReference<P>(p, relu);
    p.stride_h = 2, p.r = 3;
    ExpectMatchesReference<P>(p, relu);
    p.stride_h = 4, p.dilation_h = 1, p.r = 7;
    ExpectMatchesReference<P>(p, relu);
  }
}

TEST(WgmmaStack, Random) {
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Stacked32>;
  std::mt19937 engine(60);
  int ran = 0;
  for (int i = 0; i < 60; ++i) {
    Problem p = RandomProblem(engine);
    p.k = 1 + p.k % 32, p.dilation_h = 1;
    if (!Convolution<P>::Create(p).ok()) continue;  // output rows that share no row of taps
    ExpectMatchesReference<P>(p, reference::ReluActivation{},
                              {.seed = static_cast<std::uint32_t>(engine())});
    if (testing::Test::HasFailure()) return;
    ++ran;
  }
  EXPECT_GT(ran, 15);
}

TEST(WgmmaStack, Epilogues) {
  using namespace epilogues;  // NOLINT: a test of them
  using Words = Stacked<WgmmaTile<64, 64, 64, 32, 64, 1, 4>>;
  using ResidualOfNhwc =
      Chain<Residual<std::int8_t, NHWC>, Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  using Unsigned = Chain<SumBias, Scale, Relu, ClampTo<std::uint8_t>>;
  const reference::ReluActivation relu;
  const reference::NoActivation none;
  Problem p = SquareProblem(2, 40, 7, 27, 3, 1, 1);
  p.pad_right = 2;
  for (int i = 0; i < 2; ++i) {
    ExpectMatchesReference<WgmmaPolicy<NCxHWx<32>, BiasHSwish<>, Stacked32>>(
        p, reference::HSwishActivation{}, {.zero_point = 3.0f});
    ExpectMatchesReference<WgmmaPolicy<NCxHWx<32>, BiasRelu<std::int32_t>, Stacked32>>(
        p, relu, {.per_tensor_alpha = true, .beta = 0.37f});
    ExpectMatchesReference<WgmmaPolicy<NCxHWx<32>, ResidualBiasRelu<>, Stacked32>>(p, relu,
                                                                                   {.gamma = 0.7f});
    ExpectMatchesReference<WgmmaPolicy<NCxHWx<4>, ResidualBiasRelu<>, Words>>(p, relu,
                                                                              {.gamma = 0.7f});
    ExpectMatchesReference<WgmmaPolicy<NCxHWx<32>, ResidualOfNhwc, Stacked32>>(p, relu,
                                                                               {.gamma = 0.7f});
    ExpectMatchesReference<WgmmaPolicy<NCxHWx<32>, Unsigned, Stacked32>>(p, relu,
                                                                         {.zero_point = 3.0f});
    ExpectMatchesReference<WgmmaPolicy<NCHW, Chain<Scale, Bias<>, ToFloat>, Words>>(p, none);
    ExpectMatchesReference<WgmmaPolicy<NHWC, Chain<Scale, Bias<>, ToFloat>, Words>>(p, none);
    ExpectMatchesReference<WgmmaPolicy<NCxHWx<32>, Chain<SumBias, ToAccumulator>, Words>>(p, none);
    p.mode = Mode::kConvolution, p.h = 8;
  }
}

// Activations that look at where they are: every output's place, as a number.
TEST(WgmmaStack, Coordinates) {
  using Staged = Chain<Scale, PlaceModulo, ClampTo<std::int8_t>>;
  using Direct = Chain<Scale, PlaceModulo, ToFloat>;
  ExpectPlaces<WgmmaPolicy<NCxHWx<32>, Staged, Stacked32>>();
  ExpectPlaces<WgmmaPolicy<NHWC, Direct, Stacked<WgmmaTile<64, 64, 64, 32, 64, 1, 4>>>>();
}

// Filters that differ from image to image, or from group to group.
template <class P>
class WgmmaStackPrologues : public testing::Test {};
using StackPrologues =
    testing::Types<WgmmaPrologue<prologues::PerSample, NCxHWx<32>, Stacked32>,
                   WgmmaPrologue<prologues::Grouped, NCxHWx<32>, Stacked32>,
                   WgmmaPrologue<FromBank, NHWC, Stacked<WgmmaTile<32, 64, 64, 32, 64, 2, 4>>>,
                   WgmmaNhwcPrologue<prologues::Grouped, NHWC, Stacked32>,
                   WgmmaNhwcPrologue<prologues::PerSample, NCxHWx<4>,
                                     Stacked<WgmmaTile<32, 64, 64, 32, 64, 2, 4>>>>;
TYPED_TEST_SUITE(WgmmaStackPrologues, StackPrologues);

TYPED_TEST(WgmmaStackPrologues, Filters) {
  constexpr prologues::Depends kDepends = TypeParam::Prologue::kDepends;
  for (const std::int64_t stride : {1, 2}) {
    Problem p = SquareProblem(3, 48, 9, 16, 3, 1, stride);
    p.stride_w = 1;
    if (kDepends.group) p.groups = 3, p.c *= 2, p.k *= 3;
    ExpectMatchesReference<TypeParam>(p, reference::ReluActivation{});
    p.mode = Mode::kConvolution;
    ExpectMatchesReference<TypeParam>(p, reference::ReluActivation{});
  }
}

}  // namespace
}  // namespace weft::conv
