// Zero points of source and filter, and sources of uint8, against the reference; exactly. Compiled by
// g++ the operators run on the CPU, compiled by nvcc on the GPU.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/zero_point/zero_point_policies.hpp"
#include "tests/kinds.hpp"

namespace weft::conv {

// Random tensors of one problem, planar, and zero points.
template <class Element>
struct AsymmetricTensors {
  std::vector<Element> src;
  std::vector<std::int8_t> filter;
  std::vector<std::int32_t> sum_bias, filter_zero_point;
  std::vector<float> bias, alpha;
  std::int32_t zero_point;
  float output_zero_point;

  AsymmetricTensors(const Problem& p, std::uint32_t seed, bool source_zero, bool filter_zero,
                    int filter_bits, int src_bits = 8) {
    std::mt19937 engine(seed);
    const auto byte = [&] { return static_cast<std::uint8_t>(engine() >> 24); };
    for (std::int64_t i = 0; i < NCHW::Size(p.src()); ++i)
      src.push_back(static_cast<Element>(static_cast<Element>(byte()) >> (8 - src_bits)));
    for (std::int64_t i = 0; i < p.k * p.c / p.groups * p.r * p.s; ++i) {
      filter.push_back(
          static_cast<std::int8_t>(static_cast<std::int8_t>(byte()) >> (8 - filter_bits)));
    }
    // Extremes come often: they are where a sign or a width would be wrong.
    const auto zero = [&](bool wanted) {
      const Element picks[] = {static_cast<Element>(byte()), std::numeric_limits<Element>::min(),
                               std::numeric_limits<Element>::max()};
      return wanted ? static_cast<Element>(picks[engine() % 3] >> (8 - src_bits)) : Element{0};
    };
    zero_point = zero(source_zero);
    const float spread =
        std::ldexp(90.0f / (8000.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s))),
                   16 - filter_bits - src_bits);
    for (std::int64_t k = 0; k < p.k; ++k) {
      filter_zero_point.push_back(filter_zero ? static_cast<std::int8_t>(byte()) : 0);
      sum_bias.push_back(static_cast<std::int32_t>(engine() % 20001) - 10000);
      bias.push_back(static_cast<float>(engine() % 200) * 0.25f - 25.0f);
      alpha.push_back(spread * (0.5f + static_cast<float>(engine() % 1000) / 1000.0f));
    }
    if (filter_zero && seed % 3 == 0) {  // one for the tensor, or the extremes
      std::fill(filter_zero_point.begin(), filter_zero_point.end(), seed % 2 == 0 ? -128 : 127);
    }
    output_zero_point = static_cast<float>(engine() % 5) * 3.0f;
  }
};

// What an epilogue makes of the sum of output i, of channel k.
template <class Epilogue, class Element>
typename Epilogue::Output WantOf(const AsymmetricTensors<Element>& t, std::int64_t sum,
                                 std::int64_t k, std::int64_t i) {
  using Output = typename Epilogue::Output;
  if constexpr (std::is_same_v<Output, std::int32_t>) {
    return static_cast<std::int32_t>(sum);
  } else {
    reference::EpilogueData data;
    data.channel_alpha = t.alpha.data();
    if (Epilogue::kHasBias && !Epilogue::kBiasInSum) data.bias = t.bias.data();
    const float scaled = reference::Value(sum + (Epilogue::kBiasInSum ? t.sum_bias[k] : 0), k, i,
                                          data, reference::NoActivation{});
    const auto range = FullRange<Output>();
    return reference::Quantize<Output>(std::nearbyint(scaled), t.output_zero_point, range.low,
                                       range.high);
  }
}

template <class Buffer>
OperatorMemory<std::int32_t> TableMemory(const Buffer& table) {
  return OperatorMemory<std::int32_t>({table.data(), table.data() + table.bytes() / 4});
}

template <class Op>
void RunOrFail(const Op& op, const typename Op::Arguments& args, const RunOptions& options = {}) {
  const absl::Status s = RunHere(op, args, options);
  ASSERT_TRUE(s.ok()) << s;
}

// Runs P, or an Op that chooses among policies of which P is one, and compares every output. The
// reference's sums are the formula of ONNX; what follows is one rounding a line.
template <class P, class Op = Convolution<P>>
void ExpectExact(const Problem& problem, std::uint32_t seed, const RunOptions& options = {}) {
  using Epilogue = typename P::Epilogue;
  using Element = typename P::Element;
  using Output = typename Epilogue::Output;
  SCOPED_TRACE(absl::StrCat(ToString(problem), " seed ", seed));
  const absl::StatusOr<Op> op = Op::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const AsymmetricTensors<Element> t(
      problem, seed, Epilogue::kSourceZeroPoint, Epilogue::kFilterZeroPoint,
      kIsInt4<typename P::FilterLayout> ? 4 : 8, kIsInt4<typename P::SrcLayout> ? 4 : 8);
  constexpr bool kDepthwise = CheckedPolicy<P>::kDepthwise;
  const auto pack = [](const Problem& p, const std::vector<std::int8_t>& values) {
    if constexpr (kDepthwise) {
      return PackDepthwiseFilter({p.k, 1, p.r, p.s}, values).value();
    } else {
      return PackFilters<typename P::Prologue, typename P::FilterLayout, KCRS, std::int8_t>(
                 p.filter(), p.groups, values)
          .value();
    }
  };
  const auto bytes_of = [](const auto& buffer, auto type) {
    using T = decltype(type);
    const auto* data = reinterpret_cast<const T*>(buffer.data());
    return std::vector<T>(data, data + buffer.bytes() / sizeof(T));
  };
  const auto packed = pack(problem, t.filter);
  // Depthwise kernels sum their windows themselves.
  constexpr bool kOwnWindows = kDepthwise && Epilogue::kFilterZeroPoint;
  const std::vector<std::int32_t> own_zeros =
      kOwnWindows ? t.filter_zero_point : std::vector<std::int32_t>();
  const auto table = MakeSourceCorrection(problem, packed, t.zero_point, own_zeros).value();
  const OperatorMemory<Element> src(
      ConvertTensor<NCHW, typename P::SrcLayout, Element>(problem.src(), t.src).value());
  const OperatorMemory<std::int8_t> filter(bytes_of(packed, std::int8_t{}));
  const OperatorMemory<std::int32_t> correction = TableMemory(table);
  const OperatorMemory<std::int32_t> sum_bias(t.sum_bias), zeros(t.filter_zero_point);
  const OperatorMemory<float> bias(t.bias), alpha(t.alpha);
  const OperatorMemory<Output> dst(std::vector<Output>(op->dst_size(), Output{0x77}));
  const OperatorMemory<std::int32_t> windows(
      std::vector<std::int32_t>(problem.n * problem.groups * problem.p() * problem.q()));
  typename Op::Arguments args{
      .src = src.get(), .filter = packed.At(filter.get()), .dst = dst.get()};
  if constexpr (Epilogue::kHasScale) {
    args.channel_alpha = alpha.get();
    args.zero_point = t.output_zero_point;
  }
  if constexpr (Epilogue::kBiasInSum) {
    args.bias = sum_bias.get();
  } else if constexpr (Epilogue::kHasBias) {
    args.bias = bias.get();
  }
  if constexpr (Epilogue::kSourceZeroPoint) args.source_correction = table.At(correction.get());
  if constexpr (Epilogue::kFilterZeroPoint) args.filter_zero_point = zeros.get();
  if constexpr (Epilogue::kFilterZeroPoint && !kDepthwise) {
    const Problem window = WindowSumsProblem(problem);
    const auto sums = Convolution<WindowSums<P>>::Create(window);
    ASSERT_TRUE(sums.ok()) << sums.status();
    const auto ones = pack(
        window,
        std::vector<std::int8_t>(window.k * (window.c / window.groups) * window.r * window.s, 1));
    const auto ones_table = MakeSourceCorrection(window, ones, t.zero_point).value();
    const OperatorMemory<std::int8_t> ones_filter(bytes_of(ones, std::int8_t{}));
    const OperatorMemory<std::int32_t> ones_correction = TableMemory(ones_table);
    RunOrFail(*sums, {.src = src.get(),
                      .filter = ones.At(ones_filter.get()),
                      .dst = windows.get(),
                      .source_correction = ones_table.At(ones_correction.get())});
    args.window_sums = windows.get();
  }
  RunOrFail(*op, args, options);

  const std::vector<Output> got = dst.Read();
  TensorExtents e = problem.dst();
  const std::int64_t group_size = static_cast<std::int64_t>(t.filter.size()) / problem.groups;
  std::vector<Output> planar;
  for (std::int64_t i = 0; i < e.n * e.c * e.h * e.w; ++i) {
    const std::int64_t q = i % e.w, row = i / e.w % e.h, k = i / (e.w * e.h) % e.c,
                       n = i / (e.w * e.h * e.c);
    const std::int64_t group = k / (problem.k / problem.groups);
    const std::int64_t sum =
        reference::Accumulate(problem, t.src.data(), t.filter.data() + group * group_size, n, k,
                              row, q, t.zero_point, t.filter_zero_point[k]);
    planar.push_back(WantOf<Epilogue>(t, sum, k, i));
  }
  if constexpr (constexpr PoolFacts kPool = PoolOf<Epilogue>(); kPool.exists()) {
    planar = reference::MaxPool(planar, e.h, e.w, kPool.size, kPool.step, kPool.padding);
    e = kPool.Of(e);
  }
  std::int64_t mismatches = 0;
  for (std::int64_t i = 0; i < e.n * e.c * e.h * e.w; ++i) {
    const std::int64_t q = i % e.w, row = i / e.w % e.h, k = i / (e.w * e.h) % e.c,
                       n = i / (e.w * e.h * e.c);
    const Output want = planar[static_cast<std::size_t>(i)];
    const Output is = got[P::DstLayout::Offset(e, n, k, row, q)];
    if (is != want && ++mismatches <= 5) {
      ADD_FAILURE() << "n " << n << " k " << k << " p " << row << " q " << q << ": " << +is
                    << ", the reference has " << +want;
    }
  }
  EXPECT_EQ(mismatches, 0) << "of " << got.size() << ", zero point " << t.zero_point;
}

// Random problems, half of them with more channels.
template <class P>
void RunAsymmetric(int count, std::uint32_t seed, int multiple_c = 1, int multiple_k = 1) {
  std::mt19937 engine(seed);
  for (int i = 0; i < ProblemsHere(count); ++i) {
    Problem p = RandomProblem(engine);
    p.c = RoundUp(i % 2 == 0 ? p.c + 40 : p.c, multiple_c);
    p.k = RoundUp(p.k, multiple_k);
    ExpectExact<P>(p, static_cast<std::uint32_t>(engine()));
    if (testing::Test::HasFailure()) return;
  }
}

// Images smaller than the filter, whose pixels all see different taps, and paddings that no tap
// leaves.
template <class P>
void RunBorders(int dilation_w = 2) {
  std::uint32_t seed = 77;
  for (const Mode mode : {Mode::kCrossCorrelation, Mode::kConvolution}) {
    Problem small{.n = 2, .h = 2, .w = 3, .c = 16, .k = 16, .r = 5, .s = 4};
    small.pad_top = 4, small.pad_bottom = 3, small.pad_left = 1, small.pad_right = 3;
    small.mode = mode;
    ExpectExact<P>(small, ++seed);
    Problem far{.n = 1, .h = 5, .w = 6, .c = 16, .k = 16, .r = 3, .s = 3};
    far.pad_top = far.pad_bottom = far.pad_left = far.pad_right = 5;
    far.stride_h = 2, far.dilation_w = dilation_w;
    far.mode = mode;
    ExpectExact<P>(far, ++seed);
  }
}

}  // namespace weft::conv
