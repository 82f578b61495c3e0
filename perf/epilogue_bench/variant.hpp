// The operators of variants.def over every tile, as things to run and to check. Only with
// WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/epilogue_bench/layer_data.hpp"
#include "perf/epilogue_bench/policies.hpp"
#include "perf/peers/bench.hpp"
#include "perf/support/random.hpp"
#include "tests/reference/reference.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/convolution.hpp"

namespace weft::perf {

// An operator over one tile: how to run it, and how many of a sample of its outputs are wrong.
struct TileRun {
  int tile;  // of the list
  Way way;
  std::function<absl::StatusOr<int>()> wrong;
};

template <template <class> class Of, class Tiles = VariantTiles>
std::vector<TileRun> RunsOf(const LayerData& d, cudaStream_t stream);

// An operator, its runs over the tiles that take a layer and have GPU code, and those of the convolution with
// ReLU over the same tiles.
struct Variant {
  const char* kind;
  const char* name;
  std::vector<TileRun> (*runs)(const LayerData&, cudaStream_t);
  std::vector<TileRun> (*relu)(const LayerData&, cudaStream_t) = &RunsOf<variants::Relu>;
};

// Those of variants.def, by kind; each list is a file of its own, since they take long to compile.
std::vector<Variant> ActivationVariants();
std::vector<Variant> LayoutVariants();
std::vector<Variant> ZeroPointVariants();
std::vector<Variant> OutputVariants();
std::vector<Variant> SourceVariants();
std::vector<Variant> TypeVariants();

namespace internal {

// The run-time values of a stage of set `set`.
template <class Stage>
void SetStage(const LayerData&, int, Stage*) {}
inline void SetStage(const LayerData& d, int, epilogues::PRelu* stage) {
  stage->slope = d.slope.as<float>();
}
template <class T, class Format>
void SetStage(const LayerData& d, int set, epilogues::Copy<T, Format>* stage) {
  stage->to = d.sets[set].wide.as<T>();
}
inline void SetStage(const LayerData& d, int, epilogues::ChannelRange* stage) {
  stage->low = d.low.as<float>();
  stage->high = d.high.as<float>();
}
inline void SetStage(const LayerData& d, int, epilogues::ImageSums* stage) {
  stage->to = d.sums.as<std::int32_t>();
}
inline void SetStage(const LayerData& d, int, epilogues::OnlyImageSums* stage) {
  stage->to = d.sums.as<std::int32_t>();
}
template <class... Stages>
void SetStages(const LayerData& d, int set, epilogues::Chain<Stages...>* chain) {
  (SetStage(d, set, &chain->template Get<Stages>()), ...);
}

// The run-time values of a functor of the source, for the GPU or for here.
template <class F>
void SetSource(const LayerData&, bool, F*) {}
inline void SetSource(const LayerData& d, bool gpu, variants::Requantised* f) {
  f->scale = gpu ? d.gpu_source_scale.as<float>() : d.source_scale.data();
  f->offset = gpu ? d.gpu_source_offset.as<float>() : d.source_offset.data();
}

// What P's functor makes of the source of set 0, NCHW; nothing without one.
template <class P>
std::vector<typename P::Element> ConvertedSource(const LayerData& d) {
  std::vector<typename P::Element> source;
  if constexpr (conv::kConvertsSource<P>) {
    conv::SourceFunctorOf<P> functor;
    SetSource(d, false, &functor);
    const std::int64_t plane = d.problem.h * d.problem.w;
    for (std::size_t i = 0; i < d.src.size(); ++i) {
      source.push_back(functor(static_cast<conv::SourceElement<P>>(d.src[i]),
                               static_cast<int>(i / plane % d.problem.c)));
    }
  }
  return source;
}

// Where P's outputs go, and the scale before them.
template <class P>
const DeviceBuffer& DstOf(const LayerData::Set& set) {
  return sizeof(typename P::Epilogue::Output) > 1 ? set.wide : set.dst;
}
template <class P>
float AlphaOf(const LayerData& d) {
  if (!P::Epilogue::kHasScale) return 1.0f;
  if (P::Epilogue::kHasOutputScale) return d.alpha * LayerData::kOutputScale;
  return kIsInt4<typename P::DstLayout> ? d.alpha / 16.0f : d.alpha;
}

template <class P>
typename conv::Convolution<P>::Arguments ArgumentsOf(const LayerData& d, int set) {
  using E = typename P::Epilogue;
  typename conv::Convolution<P>::Arguments args;
  const LayerData::Set& s = d.sets[set];
  args.src = s.src.template as<conv::SourceElement<P>>();
  SetSource(d, true, &args.source_functor);
  if constexpr (kIsInt4<typename P::FilterLayout>) {
    args.filter = d.int4_packed->At(s.int4_filter.data());
  } else {
    args.filter = d.packed.At(s.filter.data());
  }
  if constexpr (E::kBiasInSum) {
    args.bias = d.sum_bias.template as<std::int32_t>();
  } else {
    args.bias = d.bias.template as<float>();
  }
  if constexpr (E::kHasResidual) args.residual = s.residual.template as<std::int8_t>();
  if constexpr (E::kWritesOutput) args.dst = DstOf<P>(s).template as<typename E::Output>();
  args.alpha = AlphaOf<P>(d);
  if constexpr (E::kHasOutputScale) {
    args.beta = args.output_scale = LayerData::kOutputScale;
  }
  if constexpr (E::kSourceZeroPoint)
    args.source_correction = d.correction->At(d.gpu_correction.data());
  if constexpr (E::kFilterZeroPoint) {
    args.filter_zero_point = d.filter_zero.template as<std::int32_t>();
    args.window_sums = d.gpu_window_sums.template as<std::int32_t>();
  }
  args.filter_is_constant = true;
  SetStages(d, set, &args.epilogue);
  return args;
}

// Output (n, k, y, x) of P on set 0, from its own sum. converted: of the source.
template <class P>
typename P::Epilogue::Output Want(const LayerData& d,
                                  const std::vector<typename P::Element>& converted, std::int64_t n,
                                  std::int64_t k, std::int64_t y, std::int64_t x) {
  using E = typename P::Epilogue;
  const conv::Problem& p = d.problem;
  const auto* const source = conv::kConvertsSource<P>
                                 ? converted.data()
                                 : reinterpret_cast<const typename P::Element*>(d.src.data());
  const std::int64_t sum = reference::Accumulate(p, source, d.filter.data(), n, k, y, x,
                                                 E::kSourceZeroPoint ? kSourceZero : 0,
                                                 E::kFilterZeroPoint ? FilterZero(k) : 0);
  epilogues::StageInputs in;
  in.accumulator = static_cast<std::int32_t>(sum);
  in.alpha = AlphaOf<P>(d);
  in.bias = LayerData::kBias;
  if (E::kHasOutputScale) {
    in.beta = LayerData::kOutputScale;
    in.inverse_output_scale = 1.0f / LayerData::kOutputScale;
  }
  if (E::kBiasInSum) in.sum_bias = static_cast<std::int32_t>(LayerData::kBias);
  if (E::kHasResidual) {
    const std::int64_t at = NCxHWx<32>::Offset(p.dst(), n, k, y, x);
    in.residual = static_cast<float>(RandomInt8(LayerData::kResidualSeed, at));
  }
  in.channel_value = LayerData::Slope(k);
  E chain;
  SetStages(d, 0, &chain);
  return chain(in, {n, static_cast<std::int32_t>(k), static_cast<std::int32_t>(y),
                    static_cast<std::int32_t>(x)});
}

// Of a sample of the outputs of one run on set 0, and of the sums of a few images and channels, those
// that are wrong.
template <class P>
absl::StatusOr<int> Wrong(const LayerData& d, const std::function<absl::Status(int set)>& enqueue) {
  using E = typename P::Epilogue;
  const conv::Problem& p = d.problem;
  const DeviceBuffer& to = DstOf<P>(d.sets[0]);
  WEFT_TRY(to.Fill(0x77));
  const std::vector<typename P::Element> converted = ConvertedSource<P>(d);
  if constexpr (E::kHasSums) WEFT_TRY(d.sums.Fill(0));
  WEFT_TRY(enqueue(0));
  std::mt19937_64 engine(3);
  const auto pick = [&](std::int64_t count) {
    return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(count));
  };
  int wrong = 0;
  if constexpr (E::kWritesOutput) {
    using Output = typename E::Output;
    WEFT_LET(const std::vector<Output> dst, to.template Read<Output>());
    for (int i = 0; i < 200; ++i) {
      const std::int64_t n = pick(p.n), k = pick(p.k), y = pick(p.p()), x = pick(p.q());
      const std::int64_t at = P::DstLayout::Offset(p.dst(), n, k, y, x);
      Output got;
      if constexpr (kIsInt4<typename P::DstLayout>) {
        got = weft::internal::GetInt4<typename P::DstLayout, Output>(dst.data(), at);
      } else {
        got = dst[at];
      }
      wrong += got != Want<P>(d, converted, n, k, y, x);
    }
  }
  if constexpr (E::kHasSums) {
    WEFT_LET(const std::vector<std::int32_t> sums, d.sums.template Read<std::int32_t>());
    for (int i = 0; i < 2; ++i) {
      const std::int64_t n = pick(p.n), k = pick(p.k);
      std::int32_t sum = 0;
      for (std::int64_t pixel = 0; pixel < p.p() * p.q(); ++pixel) {
        sum += Want<P>(d, converted, n, k, pixel / p.q(), pixel % p.q());
      }
      wrong += sums[n * p.k + k] != sum;
    }
  }
  return wrong;
}

template <class P>
void AddRun(const LayerData& d, int tile, cudaStream_t stream, std::vector<TileRun>* runs) {
  using Op = conv::Convolution<P>;
  const absl::StatusOr<Op> op = Op::Create(d.problem);
  if (!op.ok() || !gemm::HasGpuCode<P>()) return;
  const auto enqueue = [&d, stream, op = *op](int set) {
    return op.Run(ArgumentsOf<P>(d, set), stream);
  };
  runs->push_back({tile, {conv::PolicyName(P::config), enqueue}, [&d, enqueue] {
                     return Wrong<P>(d, enqueue);
                   }});
}

}  // namespace internal

// The runs of operator Of<Tile> for the tiles of a tuple. d outlives them.
template <template <class> class Of, class Tiles>
std::vector<TileRun> RunsOf(const LayerData& d, cudaStream_t stream) {
  std::vector<TileRun> runs;
  int tile = 0;
  [&]<class... Tile>(std::tuple<Tile...>*) {
    (internal::AddRun<Of<Tile>>(d, tile++, stream, &runs), ...);
  }(static_cast<Tiles*>(nullptr));
  return runs;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
