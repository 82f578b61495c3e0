// Runs a deconvolution with zero points on random data and compares it with the reference; exactly.
#pragma once

#include "tests/conv/deconvolution/deconvolution_problems.hpp"
#include "tests/conv/zero_point/zero_point_cases.hpp"
#include "tests/reference/deconvolution.hpp"
#include "weft/conv/deconvolution.hpp"

namespace weft::conv {

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

// Op: as for ExpectExact. more: for its Create.
template <class P, class Op = Deconvolution<P>, class... More>
void ExpectDeconvolvedExactly(const DeconvolutionProblem& p, std::uint32_t seed,
                              const More&... more) {
  using Element = typename P::Element;
  using Epilogue = typename P::Epilogue;
  using Output = typename Epilogue::Output;
  SCOPED_TRACE(absl::StrCat(Text(p), " seed ", seed));
  const absl::StatusOr<Op> op = Op::Create(p, more...);
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

}  // namespace
}  // namespace weft::conv
