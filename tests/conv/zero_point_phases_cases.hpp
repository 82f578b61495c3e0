// Zero points where one table of corrections does not do, or has another filter's sums: phases of a
// deconvolution, depthwise convolutions, alone and before a 1x1 convolution; exactly.
#pragma once

#include <set>

#include "tests/conv/deconvolution_problems.hpp"
#include "tests/conv/zero_point_cases.hpp"
#include "tests/reference/deconvolution.hpp"
#include "weft/conv/deconvolution.hpp"
#include "weft/conv/depthwise_pointwise.hpp"

namespace weft::conv {

using TransposedSimt = Int4Source<Transposed<ZeroSimt>>;
using TransposedSm80 = Transposed<ZeroFilterSm80>;
using TransposedWgmma = Transposed<ZeroWgmmaSums>;

using ZeroDepthwise4 = UnsignedSource<S8Depthwise4<QLinear<>>>;
using ZeroDepthwiseNhwc = S8DepthwiseNhwc<ConvInteger, NCHW>;

struct ZeroFused {
  using Element = std::uint8_t;
  using SrcLayout = NCxHWx<32>;
  using DstLayout = NCxHWx<32>;
  using DepthwiseEpilogue = QLinear<>;
  using Epilogue = epilogues::Chain<SumBias, ToAccumulator>;
  static constexpr DepthwisePointwiseConfig config = DepthwisePointwiseConfig(4, 3, 32, 16);
};

namespace {

template <class Buffer>
OperatorMemory<std::int32_t> TableMemory(const Buffer& table) {
  return OperatorMemory<std::int32_t>({table.data(), table.data() + table.bytes() / 4});
}

// Of a deconvolution by a filter of ones: what a FilterZeroPoint reads.
template <class P, class Source>
std::vector<std::int32_t> WindowsOf(const DeconvolutionProblem& problem, const Source* src,
                                    std::int32_t zero_point) {
  const DeconvolutionProblem p = WindowSumsProblem(problem);
  const auto op = Deconvolution<WindowSums<P>>::Create(p);
  EXPECT_TRUE(op.ok()) << op.status();
  const auto ones = PackDeconvolutionFilter<typename P::FilterLayout>(
                        p, std::vector<std::int8_t>(p.c * p.r * p.s, 1))
                        .value();
  const auto table = MakeSourceCorrection(p, ones, zero_point).value();
  const OperatorMemory<std::int32_t> corrections = TableMemory(table);
  const OperatorMemory<std::int8_t> filter({ones.data(), ones.data() + ones.bytes()});
  const OperatorMemory<std::int32_t> sums(std::vector<std::int32_t>(op->dst_size()));
  RunOrFail(*op, {.src = src,
                  .filter = ones.At(filter.get()),
                  .dst = sums.get(),
                  .source_correction = table.At(corrections.get())});
  return sums.Read();
}

template <class P>
void ExpectDeconvolvedExactly(const DeconvolutionProblem& p, std::uint32_t seed) {
  using Op = Deconvolution<P>;
  using Element = typename P::Element;
  using Epilogue = typename P::Epilogue;
  using Output = typename Epilogue::Output;
  SCOPED_TRACE(absl::StrCat(Text(p), " seed ", seed));
  const absl::StatusOr<Op> op = Op::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  Problem of_values;  // with as many values
  of_values.n = p.n, of_values.c = p.c, of_values.k = p.k, of_values.r = p.r, of_values.s = p.s;
  of_values.h = p.h, of_values.w = p.w;
  const AsymmetricTensors<Element> t(of_values, seed, true, Epilogue::kFilterZeroPoint, 8,
                                     kIsInt4<typename P::SrcLayout> ? 4 : 8);
  const auto packed = PackDeconvolutionFilter<typename P::FilterLayout>(p, t.filter).value();
  const auto table = MakeSourceCorrection(p, packed, t.zero_point).value();
  const OperatorMemory<Element> src(
      ConvertTensor<NCHW, typename P::SrcLayout, Element>(p.src(), t.src).value());
  const OperatorMemory<std::int8_t> filter({packed.data(), packed.data() + packed.bytes()});
  const OperatorMemory<std::int32_t> corrections = TableMemory(table);
  const OperatorMemory<std::int32_t> sum_bias(t.sum_bias), zeros(t.filter_zero_point);
  const OperatorMemory<float> alpha(t.alpha);
  const OperatorMemory<Output> dst(std::vector<Output>(op->dst_size(), Output{0x77}));
  typename Op::Arguments args{
      .src = src.get(), .filter = packed.At(filter.get()), .dst = dst.get()};
  args.source_correction = table.At(corrections.get());
  if constexpr (Epilogue::kHasScale) {
    args.channel_alpha = alpha.get();
    args.zero_point = t.output_zero_point;
  }
  if constexpr (Epilogue::kBiasInSum) args.bias = sum_bias.get();
  std::vector<std::int32_t> window_values(1);
  if constexpr (Epilogue::kFilterZeroPoint) {
    window_values = WindowsOf<P>(p, src.get(), t.zero_point);
    args.filter_zero_point = zeros.get();
  }
  const OperatorMemory<std::int32_t> windows(window_values);
  if constexpr (Epilogue::kFilterZeroPoint) args.window_sums = windows.get();
  RunOrFail(*op, args);

  const std::vector<Output> got = dst.Read();
  const TensorExtents e = p.dst();
  std::int64_t mismatches = 0;
  for (std::int64_t i = 0; i < e.n * e.c * e.h * e.w; ++i) {
    const std::int64_t q = i % e.w, row = i / e.w % e.h, k = i / (e.w * e.h) % e.c,
                       n = i / (e.w * e.h * e.c);
    const std::int64_t sum = reference::AccumulateSpread(
        p, t.src.data(), t.filter.data(), n, k, row, q, t.zero_point, t.filter_zero_point[k]);
    const Output want = WantOf<Epilogue>(t, sum, k, i);
    const Output is = got[P::DstLayout::Offset(e, n, k, row, q)];
    if (is != want && ++mismatches <= 5) {
      ADD_FAILURE() << "n " << n << " k " << k << " p " << row << " q " << q << ": " << +is
                    << ", the reference has " << +want;
    }
  }
  EXPECT_EQ(mismatches, 0) << "zero point " << t.zero_point;
}

template <class P>
void RunPhases(int multiple = 1) {
  const auto fit = [&](DeconvolutionProblem p) {
    p.c = RoundUp(p.c, multiple), p.k = RoundUp(p.k, multiple);
    return p;
  };
  std::uint32_t seed = 40;
  for (const DeconvolutionProblem& p : {
           SquareDeconvolution(2, 33, 5, 37, 3, 1, 2, 1),  // phases of different borders
           SquareDeconvolution(1, 20, 4, 40, 2, 0, 2),     // phases without any
           SquareDeconvolution(1, 16, 4, 33, 1, 0, 2),     // phases without taps
           SquareDeconvolution(1, 8, 3, 8, 2, 1, 2),       // phases that begin inside the source
       }) {
    ExpectDeconvolvedExactly<P>(fit(p), ++seed);
    if (testing::Test::HasFailure()) return;
  }
  std::mt19937 engine(9);
  for (int i = 0; i < 12; ++i) {
    ExpectDeconvolvedExactly<P>(fit(RandomDeconvolution(engine, 3, 3)), ++seed);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ZeroPointPhases, SimtOf4Bits) {
  RunPhases<TransposedSimt>();
}
TEST(ZeroPointPhases, MmaSm80WithFilterZeroPoint) {
  RunPhases<TransposedSm80>();
}
TEST(ZeroPointPhases, Wgmma) {
  RunPhases<TransposedWgmma>(16);
}

template <class P>
void RunDepthwise(int multiple_c) {
  std::mt19937 engine(5);
  for (int i = 0; i < 12; ++i) {
    Problem p = RandomProblem(engine);
    p.c = p.groups = RoundUp(p.c, multiple_c);
    p.k = p.c * (i % 4 == 3 ? 2 : 1);
    if (i % 3 != 2) {  // a kernel of its own
      p.r = p.s = i % 2 == 0 ? 3 : 5;
      p.stride_h = p.stride_w = 1 + i / 2 % 2;
      p.dilation_h = p.dilation_w = 1;
      p.mode = Mode::kCrossCorrelation;
      p.h += p.r, p.w += p.s;
    }
    ExpectExact<P>(p, static_cast<std::uint32_t>(engine()));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ZeroPointDepthwise, Nc4) {
  RunDepthwise<ZeroDepthwise4>(1);
}
TEST(ZeroPointDepthwise, Nhwc) {
  RunDepthwise<ZeroDepthwiseNhwc>(4);
}

// The fused operator is its halves one after the other, whose exactness is tested by themselves.
TEST(ZeroPointDepthwise, BeforePointwise) {
  using First = DepthwiseHalf<ZeroFused>;
  for (const std::int64_t stride : {1, 2}) {
    Problem p = SquareProblem(2, 40, 9, 40, 3, 1, stride);
    p.groups = p.c, p.pad_left = 2;
    const AsymmetricTensors<std::uint8_t> t(p, 3, true, false, 8);
    const auto op = DepthwisePointwise<ZeroFused>::Create(p, 33);
    const auto first = Convolution<First>::Create(p);
    ASSERT_TRUE(op.ok() && first.ok()) << op.status();
    const auto second = Convolution<PointwiseHalf<ZeroFused>>::Create(op->pointwise());
    ASSERT_TRUE(second.ok()) << second.status();

    const auto depthwise = PackDepthwiseFilter({p.k, 1, p.r, p.s}, t.filter).value();
    const auto pointwise =
        PackFilter<CxRSKx<32>>(op->pointwise().filter(), RandomTensors(op->pointwise(), 4).filter)
            .value();
    const auto table = MakeSourceCorrection(p, depthwise, t.zero_point).value();
    const OperatorMemory<std::int32_t> corrections = TableMemory(table);
    const OperatorMemory<std::int8_t> taps(
        {depthwise.data(), depthwise.data() + depthwise.bytes()});
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
                       .source_correction = table.At(corrections.get())});
    RunOrFail(*second, {.src = middle.get(),
                        .filter = pointwise.At(matrix.get()),
                        .bias = bias.get(),
                        .dst = want.get()});
    RunOrFail(*op, {.src = src.get(),
                    .depthwise = {.filter = depthwise.At(taps.get()),
                                  .bias = bias.get(),
                                  .channel_alpha = alpha.get(),
                                  .zero_point = 5.0f,
                                  .source_correction = table.At(corrections.get())},
                    .filter = pointwise.At(matrix.get()),
                    .bias = bias.get(),
                    .dst = got.get()});
    EXPECT_EQ(got.Read(), want.Read());
    const std::vector<std::uint8_t> bytes = middle.Read();
    EXPECT_GT(std::set<std::uint8_t>(bytes.begin(), bytes.end()).size(), 50u);
  }
}

}  // namespace
}  // namespace weft::conv
