// Convolutions and deconvolutions over NCxHWx<32>, of any filter and epilogue, as ways to be timed whose outputs are
// checked: a sample of them is compared, exactly, with sums computed here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/bench/bench.hpp"
#include "perf/bench/operator_data.hpp"
#include "perf/bench/tiles.hpp"
#include "perf/support/random.hpp"
#include "tests/reference/reference.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/zero_point/source_correction.hpp"

namespace weft::perf {

// The sum of products behind an output of a convolution, whose filter, planar, is here on the host: [K][C / groups][R][S],
// or with a LocalFilter such a filter for each output pixel.
struct ConvolutionSum {
  conv::Problem problem;
  std::vector<std::int8_t> filter;
  bool local = false;

  template <class Source>
  std::int64_t operator()(const Source* src, std::int64_t n, std::int64_t k, std::int64_t y,
                          std::int64_t x, std::int32_t source_zero = 0,
                          std::int32_t filter_zero = 0) const {
    const conv::Problem& p = problem;
    const std::int64_t group_k = p.k / p.groups, of_group = group_k * p.c / p.groups * p.r * p.s;
    const std::int64_t which = local ? y * p.q() + x : k / group_k;
    return reference::Accumulate(p, src, filter.data() + which * of_group, n, k, y, x, source_zero,
                                 filter_zero);
  }

  // Of one channel, with a filter of ones.
  ConvolutionSum Window() const {
    ConvolutionSum ones{problem, std::vector<std::int8_t>(problem.r * problem.s, 1)};
    ones.problem.c = ones.problem.k = ones.problem.groups = 1;
    return ones;
  }
};

// What a FilterZeroPoint reads: for each pixel of dst the sum of the source's values, each less its zero point, that
// meet a filter of ones.
template <class Sum>
std::vector<std::int32_t> WindowSums(const Sum& sum, const OperatorData& d) {
  const TensorExtents &s = d.src_extents, &to = d.dst_extents;
  const std::int64_t plane = s.h * s.w;
  std::vector<std::int32_t> pixels(s.n * plane);  // over the channels
  for (std::size_t i = 0; i < d.src.size(); ++i) {
    pixels[i / (s.c * plane) * plane + i % plane] += d.src[i] - OperatorData::kSourceZero;
  }
  const Sum ones = sum.Window();
  return VectorOf(to.n * to.h * to.w, [&](std::int64_t i) {
    return static_cast<std::int32_t>(
        ones(pixels.data(), i / (to.h * to.w), 0, i / to.w % to.h, i % to.w));
  });
}

// A filter, packed on the host and once for each buffer set on the GPU, what its sums are, and the tables of a zero point
// of the source, without and with those of the filter in them.
template <class Sum, class Packed, class Correction = conv::SourceCorrectionBuffer>
struct Filters {
  Sum sum;
  Packed packed;
  std::vector<DeviceBuffer> sets = {};
  std::optional<Correction> source_zero = {}, both_zeros = {};
  DeviceBuffer gpu_source_zero = {}, gpu_both_zeros = {};
  bool is_constant = true;  // no launch before writes it: Arguments::filter_is_constant

  absl::Status ToGpu(int count) {
    for (int i = 0; i < count; ++i) {
      WEFT_LET(DeviceBuffer set, DeviceBuffer::FromBytes(packed.data(), packed.bytes()));
      sets.push_back(std::move(set));
    }
    return absl::OkStatus();
  }
  auto At(int set) const { return packed.At(sets[set].data()); }

  // Makes the table of the source's zero point, and that with the filter's in it where the operator reads such a one.
  absl::Status AddCorrections(bool with_filter = false) {
    WEFT_LET(source_zero, MakeSourceCorrection(sum.problem, packed, OperatorData::kSourceZero));
    WEFT_LET(gpu_source_zero, DeviceBuffer::FromBytes(source_zero->data(), source_zero->bytes()));
    if constexpr (std::is_same_v<Correction, conv::SourceCorrectionBuffer>) {
      if (!with_filter) return absl::OkStatus();
      WEFT_LET(both_zeros, MakeSourceCorrection(sum.problem, packed, OperatorData::kSourceZero,
                                                VectorOf(sum.problem.k, OperatorData::FilterZero)));
      WEFT_LET(gpu_both_zeros, DeviceBuffer::FromBytes(both_zeros->data(), both_zeros->bytes()));
    }
    return absl::OkStatus();
  }
  auto CorrectionFor(bool filter_zero) const {
    return filter_zero && both_zeros.has_value() ? both_zeros->At(gpu_both_zeros.data())
                                                 : source_zero->At(gpu_source_zero.data());
  }
};

namespace internal {

// The run-time values of a stage of set `set`.
template <class Stage>
void SetStage(const OperatorData&, int, Stage*) {}
inline void SetStage(const OperatorData& d, int, epilogues::PRelu* stage) {
  stage->slope = d.slope.as<float>();
}
template <class T, class Format>
void SetStage(const OperatorData& d, int set, epilogues::Copy<T, Format>* stage) {
  stage->to = d.sets[set].wide.as<T>();
}
inline void SetStage(const OperatorData& d, int, epilogues::ChannelRange* stage) {
  stage->low = d.low.as<float>();
  stage->high = d.high.as<float>();
}
inline void SetStage(const OperatorData& d, int, epilogues::ImageSums* stage) {
  stage->to = d.sums.as<std::int32_t>();
}
inline void SetStage(const OperatorData& d, int, epilogues::OnlyImageSums* stage) {
  stage->to = d.sums.as<std::int32_t>();
}
template <class... Stages>
void SetStages(const OperatorData& d, int set, epilogues::Chain<Stages...>* chain) {
  (SetStage(d, set, &chain->template Get<Stages>()), ...);
}

// What P's functor makes of the source of set 0, NCHW; nothing without one. A functor has the members scale and offset,
// of each channel, or none.
template <class P>
std::vector<typename P::Element> ConvertedSource(const OperatorData& d) {
  std::vector<typename P::Element> source;
  if constexpr (conv::kConvertsSource<P>) {
    conv::SourceFunctorOf<P> functor;
    if constexpr (!std::is_empty_v<conv::SourceFunctorOf<P>>) {
      functor.scale = d.source_scale.data();
      functor.offset = d.source_offset.data();
    }
    const std::int64_t plane = d.src_extents.h * d.src_extents.w;
    for (std::size_t i = 0; i < d.src.size(); ++i) {
      source.push_back(functor(static_cast<conv::SourceElement<P>>(d.src[i]),
                               static_cast<int>(i / plane % d.src_extents.c)));
    }
  }
  return source;
}

// Where P's outputs go, and the scale before them.
template <class P>
const DeviceBuffer& DstOf(const OperatorData::Set& set) {
  return sizeof(typename P::Epilogue::Output) > 1 ? set.wide : set.dst;
}
template <class P>
float AlphaOf(const OperatorData& d) {
  if (!P::Epilogue::kHasScale) return 1.0f;
  if (P::Epilogue::kHasOutputScale) return d.alpha * OperatorData::kOutputScale;
  return kIsInt4<typename P::DstLayout> ? d.alpha / 16.0f : d.alpha;
}

template <class Op, class P, class FiltersT>
typename Op::Arguments ArgumentsOf(const OperatorData& d, const FiltersT& filters, int set) {
  using E = typename P::Epilogue;
  typename Op::Arguments args;
  const OperatorData::Set& s = d.sets[set];
  args.src = s.src.template as<conv::SourceElement<P>>();
  if constexpr (conv::kConvertsSource<P>) {
    if constexpr (!std::is_empty_v<conv::SourceFunctorOf<P>>) {
      args.source_functor.scale = d.gpu_source_scale.template as<float>();
      args.source_functor.offset = d.gpu_source_offset.template as<float>();
    }
  }
  args.filter = filters.At(set);
  if constexpr (E::kBiasInSum) {
    args.bias = d.sum_bias.template as<std::int32_t>();
  } else {
    args.bias = d.bias.template as<float>();
  }
  if constexpr (E::kHasResidual) args.residual = s.residual.template as<std::int8_t>();
  if constexpr (E::kWritesOutput) args.dst = DstOf<P>(s).template as<typename E::Output>();
  args.alpha = AlphaOf<P>(d);
  if constexpr (E::kHasOutputScale) {
    args.beta = args.output_scale = OperatorData::kOutputScale;
  }
  if constexpr (E::kSourceZeroPoint)
    args.source_correction = filters.CorrectionFor(E::kFilterZeroPoint);
  if constexpr (E::kFilterZeroPoint) {
    args.filter_zero_point = d.filter_zero.template as<std::int32_t>();
    if (d.window_sums.bytes() > 0) args.window_sums = d.window_sums.template as<std::int32_t>();
  }
  args.filter_is_constant = filters.is_constant;
  SetStages(d, set, &args.epilogue);
  return args;
}

// Output (n, k, y, x) of P on set 0, from its own sum. converted: of the source.
template <class P, class Sum>
typename P::Epilogue::Output Want(const OperatorData& d, const Sum& sum_of,
                                  const std::vector<typename P::Element>& converted, std::int64_t n,
                                  std::int64_t k, std::int64_t y, std::int64_t x) {
  using E = typename P::Epilogue;
  const auto* const source = conv::kConvertsSource<P>
                                 ? converted.data()
                                 : reinterpret_cast<const typename P::Element*>(d.src.data());
  epilogues::StageInputs in;
  in.accumulator = static_cast<std::int32_t>(
      sum_of(source, n, k, y, x, E::kSourceZeroPoint ? OperatorData::kSourceZero : 0,
             E::kFilterZeroPoint ? OperatorData::FilterZero(k) : 0));
  in.alpha = AlphaOf<P>(d);
  in.bias = OperatorData::kBias;
  if (E::kHasOutputScale) {
    in.beta = OperatorData::kOutputScale;
    in.inverse_output_scale = 1.0f / OperatorData::kOutputScale;
  }
  if (E::kBiasInSum) in.sum_bias = static_cast<std::int32_t>(OperatorData::kBias);
  if (E::kHasResidual) {
    const std::int64_t at = NCxHWx<32>::Offset(d.dst_extents, n, k, y, x);
    in.residual = static_cast<float>(RandomInt8(OperatorData::kResidualSeed, at));
  }
  in.channel_value = OperatorData::Slope(k);
  E chain;
  SetStages(d, 0, &chain);
  return chain(in, {n, static_cast<std::int32_t>(k), static_cast<std::int32_t>(y),
                    static_cast<std::int32_t>(x)});
}

}  // namespace internal

// Calls wrong(n, k, y, x) for a sample of the outputs of a tensor: of how many it is true.
template <class WrongFunction>
std::int64_t CountInSample(const TensorExtents& e, int samples, const WrongFunction& wrong) {
  std::mt19937_64 engine(3);
  const auto pick = [&](std::int64_t count) {
    return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(count));
  };
  std::int64_t count = 0;
  for (int i = 0; i < samples; ++i) {
    const std::int64_t n = pick(e.n), k = pick(e.c), y = pick(e.h), x = pick(e.w);
    count += wrong(n, k, y, x) ? 1 : 0;
  }
  return count;
}

namespace internal {

// Of a sample of the outputs of one run on set 0, and of the sums of a few images and channels, those
// that are wrong.
template <class P, class Sum>
absl::StatusOr<std::int64_t> Wrong(const OperatorData& d, const Sum& sum,
                                   const std::function<absl::Status(int set)>& enqueue) {
  using E = typename P::Epilogue;
  const TensorExtents& e = d.dst_extents;
  const DeviceBuffer& to = DstOf<P>(d.sets[0]);
  WEFT_TRY(to.Fill(0x77));
  const std::vector<typename P::Element> converted = ConvertedSource<P>(d);
  if constexpr (E::kHasSums) WEFT_TRY(d.sums.Fill(0));
  WEFT_TRY(enqueue(0));
  std::int64_t wrong = 0;
  if constexpr (E::kWritesOutput) {
    using Output = typename E::Output;
    WEFT_LET(const std::vector<Output> dst, to.template Read<Output>());
    wrong = CountInSample(e, 400, [&](auto n, auto k, auto y, auto x) {
      const std::int64_t at = P::DstLayout::Offset(e, n, k, y, x);
      Output got;
      if constexpr (kIsInt4<typename P::DstLayout>) {
        got = weft::internal::GetInt4<typename P::DstLayout, Output>(dst.data(), at);
      } else {
        got = dst[at];
      }
      return got != Want<P>(d, sum, converted, n, k, y, x);
    });
  }
  if constexpr (E::kHasSums) {
    WEFT_LET(const std::vector<std::int32_t> sums, d.sums.template Read<std::int32_t>());
    wrong += CountInSample({e.n, e.c, 1, 1}, 2, [&](auto n, auto k, auto, auto) {
      std::int32_t total = 0;
      for (std::int64_t pixel = 0; pixel < e.h * e.w; ++pixel) {
        total += Want<P>(d, sum, converted, n, k, pixel / e.w, pixel % e.w);
      }
      return sums[n * e.c + k] != total;
    });
  }
  return wrong;
}

}  // namespace internal

// The policies of a family that take the problem and have GPU code, as ways. Op: conv::Convolution or
// conv::Deconvolution. d and filters outlive them.
template <template <class PolicyT> class Op, class Family, class FiltersT>
std::vector<Way> WaysOf(const OperatorData& d, const FiltersT& filters, cudaStream_t stream) {
  std::vector<Way> ways;
  ForEachPolicy(Family(), [&]<class P>(int tile) {
    const auto op = Op<P>::Create(filters.sum.problem);
    if (!op.ok() || !gemm::HasGpuCode<P>()) return;
    const auto enqueue = [&d, &filters, stream, op = *op](int set) {
      return op.Run(internal::ArgumentsOf<Op<P>, P>(d, filters, set), stream);
    };
    const auto wrong = [&d, &filters, enqueue] {
      return internal::Wrong<P>(d, filters.sum, enqueue);
    };
    ways.push_back({conv::PolicyName(P::config), enqueue, wrong, tile});
  });
  return ways;
}

}  // namespace weft::perf
