// Zero points of source and filter in depthwise convolutions, alone and before a 1x1 convolution;
// exactly. Compiled by g++ the operators run on the CPU, compiled by nvcc on the GPU.
#pragma once

#include <set>

#include "tests/conv/zero_point/zero_point_cases.hpp"
#include "tests/kinds.hpp"
#include "weft/conv/depthwise_pointwise.hpp"

namespace weft::conv {

using ZeroDepthwise4 = UnsignedSource<S8Depthwise4<QLinear<>>>;
using ZeroDepthwiseNhwc = S8DepthwiseNhwc<ConvInteger, NCHW>;
using ZeroFilterDepthwise4 = UnsignedSource<S8Depthwise4<QLinearWithFilter<std::uint8_t>>>;
using ZeroFilterDepthwise32 = S8Depthwise32<QLinearWithFilter<std::int8_t>>;
using ZeroFilterDepthwiseNhwc = S8DepthwiseNhwc<OnlyFilter, NCHW, Depthwise4x8>;

template <class FirstEpilogue>
struct FusedZeros {
  using Element = std::uint8_t;
  using SrcLayout = NCxHWx<32>;
  using DstLayout = NCxHWx<32>;
  using DepthwiseEpilogue = FirstEpilogue;
  using Epilogue = epilogues::Chain<SumBias, ToAccumulator>;
  static constexpr DepthwisePointwiseConfig config = DepthwisePointwiseConfig(4, 3, 32, 16);
};

namespace {

// Each kernel, borders that reach past windows, and channel multipliers.
template <class P>
void RunDepthwise(int multiple_c) {
  std::mt19937 engine(5);
  for (int i = 0; i < 24; ++i) {
    Problem p = RandomProblem(engine);
    if (i % 8 == 7) p.c += 30;
    p.c = p.groups = RoundUp(p.c, multiple_c);
    p.k = p.c * (i % 4 == 3 ? 2 + i % 3 : 1);
    if (i % 4 != 2) {  // a kernel of its own
      p.r = p.s = 3 + i % 3 * 2;
      p.stride_h = p.stride_w = 1 + i / 2 % 2;
      p.dilation_h = p.dilation_w = 1;
      p.mode = Mode::kCrossCorrelation;
      p.h += p.r, p.w += p.s;
    }
    ExpectExact<P>(p, static_cast<std::uint32_t>(engine()));
    if (testing::Test::HasFailure()) return;
  }
  Problem far = SquareProblem(1, 8, 6, 8, 3, 4, 1);  // whole outputs see no input
  far.groups = 8, far.pad_left = 5;
  ExpectExact<P>(far, 3);
  Problem one = SquareProblem(3, 4, 1, 4, 1, 0, 1);
  one.groups = 4;
  ExpectExact<P>(one, 6);
}

#if defined(WEFT_CPU_BACKEND) && \
    !WEFT_ONE_OF_EACH_KIND  // each compiles for long, and the CPU runs the same code
TEST(ZeroPointDepthwise, Nc4) {
  RunDepthwise<ZeroDepthwise4>(1);
}
#endif
#if !WEFT_ONE_OF_EACH_KIND
TEST(ZeroPointDepthwise, Nhwc) {
  RunDepthwise<ZeroDepthwiseNhwc>(4);
}
#endif
TEST(ZeroPointDepthwise, OfTheFilterNc4) {
  RunDepthwise<ZeroFilterDepthwise4>(1);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(ZeroPointDepthwise, OfTheFilterNc32) {
  RunDepthwise<ZeroFilterDepthwise32>(1);
}
#endif
TEST(ZeroPointDepthwise, OnlyOfTheFilterNhwc) {
  RunDepthwise<ZeroFilterDepthwiseNhwc>(4);
}

// The fused operator is its halves one after the other, whose exactness is tested by themselves.
template <class P>
void RunBeforePointwise(std::int64_t filter, std::int64_t stride) {
  using First = DepthwiseHalf<P>;
  constexpr bool kFilter = First::Epilogue::kFilterZeroPoint;
  Problem p = SquareProblem(2, 40, 9, 40, filter, filter / 2, stride);
  p.groups = p.c, p.pad_left = 2;
  const AsymmetricTensors<std::uint8_t> t(p, 4, true, kFilter, 8);
  const auto op = DepthwisePointwise<P>::Create(p, 33);
  const auto first = Convolution<First>::Create(p);
  ASSERT_TRUE(op.ok() && first.ok()) << op.status();
  const auto second = Convolution<PointwiseHalf<P>>::Create(op->pointwise());
  ASSERT_TRUE(second.ok()) << second.status();

  const auto depthwise = PackDepthwiseFilter({p.k, 1, p.r, p.s}, t.filter).value();
  const auto pointwise =
      PackFilter<CxRSKx<32>>(op->pointwise().filter(), RandomTensors(op->pointwise(), 4).filter)
          .value();
  const auto table =
      MakeSourceCorrection(p, depthwise, t.zero_point,
                           kFilter ? t.filter_zero_point : std::vector<std::int32_t>())
          .value();
  const OperatorMemory<std::int32_t> corrections = TableMemory(table);
  const OperatorMemory<std::int32_t> zeros(t.filter_zero_point);
  const OperatorMemory<std::int8_t> taps({depthwise.data(), depthwise.data() + depthwise.bytes()});
  const OperatorMemory<std::int8_t> matrix(
      {pointwise.data(), pointwise.data() + pointwise.bytes()});
  const OperatorMemory<std::uint8_t> src(
      ConvertTensor<NCHW, NCxHWx<32>, std::uint8_t>(p.src(), t.src).value());
  const OperatorMemory<std::int32_t> bias(t.sum_bias);
  const OperatorMemory<float> alpha(t.alpha);
  const OperatorMemory<std::uint8_t> middle(std::vector<std::uint8_t>(first->dst_size()));
  const OperatorMemory<std::int32_t> want(std::vector<std::int32_t>(op->dst_size())),
      got(std::vector<std::int32_t>(op->dst_size(), 7));
  RunOrFail(*first, {.src = src.get(),
                     .filter = depthwise.At(taps.get()),
                     .bias = bias.get(),
                     .dst = middle.get(),
                     .channel_alpha = alpha.get(),
                     .zero_point = 5.0f,
                     .source_correction = table.At(corrections.get()),
                     .filter_zero_point = kFilter ? zeros.get() : nullptr});
  RunOrFail(*second, {.src = middle.get(),
                      .filter = pointwise.At(matrix.get()),
                      .bias = bias.get(),
                      .dst = want.get()});
  RunOrFail(*op, {.src = src.get(),
                  .depthwise = {.filter = depthwise.At(taps.get()),
                                .bias = bias.get(),
                                .channel_alpha = alpha.get(),
                                .zero_point = 5.0f,
                                .source_correction = table.At(corrections.get()),
                                .filter_zero_point = kFilter ? zeros.get() : nullptr},
                  .filter = pointwise.At(matrix.get()),
                  .bias = bias.get(),
                  .dst = got.get()});
  EXPECT_EQ(got.Read(), want.Read());
  const std::vector<std::uint8_t> bytes = middle.Read();
  EXPECT_GT(std::set<std::uint8_t>(bytes.begin(), bytes.end()).size(), 50u);
}

#if !WEFT_ONE_OF_EACH_KIND
TEST(ZeroPointDepthwise, BeforePointwise) {
  RunBeforePointwise<FusedZeros<QLinear<>>>(3, 1);
  RunBeforePointwise<FusedZeros<QLinear<>>>(3, 2);
}
#endif
TEST(ZeroPointDepthwise, OfTheFilterBeforePointwise) {
  for (const std::int64_t filter : {3, 5}) {
    for (const std::int64_t stride : {1, 2}) {
      RunBeforePointwise<FusedZeros<QLinearWithFilter<std::uint8_t>>>(filter, stride);
    }
  }
}

}  // namespace
}  // namespace weft::conv
