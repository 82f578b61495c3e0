// Zero points where one table of corrections does not do: the phases of a deconvolution; exactly.
#pragma once

#include "tests/conv/deconvolution_problems.hpp"
#include "tests/conv/zero_point_cases.hpp"
#include "tests/reference/deconvolution.hpp"
#include "weft/conv/deconvolution.hpp"

namespace weft::conv {

using TransposedSimt = Int4Source<Transposed<ZeroSimt>>;
using TransposedSm80 = Transposed<ZeroFilterSm80>;
using TransposedWgmma = Transposed<ZeroWgmmaSums>;

namespace {

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

}  // namespace
}  // namespace weft::conv
