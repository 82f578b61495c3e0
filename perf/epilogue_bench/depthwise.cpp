#include "perf/epilogue_bench/depthwise.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/epilogue_bench/policies.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/random.hpp"
#include "perf/support/zero_points.hpp"
#include "tests/reference/reference.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr double kSampleMicroseconds = 2000.0;
constexpr float kBias = 3.0f;

struct Data {
  conv::Problem problem;
  float alpha;
  std::vector<std::int8_t> src, filter;  // NCHW, [C][R][S]
  PackedFilterBuffer<KRSx4x4, std::int8_t, prologues::Depthwise> taps;
  conv::SourceCorrectionBuffer source_correction, both_correction;
  DeviceBuffer gpu_taps, bias, filter_zero, gpu_source_correction, gpu_both_correction;
  struct Set {
    DeviceBuffer src, dst;
  };
  std::vector<Set> sets;
  int count() const { return static_cast<int>(sets.size()); }
};

absl::StatusOr<Data> MakeData(const conv::Problem& p) {
  std::vector<std::int8_t> src = RandomInt8s(NCHW::Size(p.src()), 1);
  std::vector<std::int8_t> filter = RandomInt8s(p.c * p.r * p.s, 2);
  std::vector<std::int32_t> zeros;
  for (std::int64_t k = 0; k < p.k; ++k) zeros.push_back(FilterZero(k));
  WEFT_LET(auto taps, PackDepthwiseFilter({p.c, 1, p.r, p.s}, filter));
  WEFT_LET(auto of_source, conv::MakeSourceCorrection(p, taps, kSourceZero));
  WEFT_LET(auto of_both, conv::MakeSourceCorrection(p, taps, kSourceZero, zeros));
  WEFT_LET(const std::vector<std::int8_t> blocked,
           (ConvertTensor<NCHW, NCxHWx<32>, std::int8_t>(p.src(), src)));
  WEFT_LET(DeviceBuffer gpu_taps, DeviceBuffer::FromBytes(taps.data(), taps.bytes()));
  WEFT_LET(DeviceBuffer bias, DeviceBuffer::From(std::vector<float>(p.k, kBias)));
  WEFT_LET(DeviceBuffer gpu_zeros, DeviceBuffer::From(zeros));
  WEFT_LET(DeviceBuffer gpu_source, DeviceBuffer::FromBytes(of_source.data(), of_source.bytes()));
  WEFT_LET(DeviceBuffer gpu_both, DeviceBuffer::FromBytes(of_both.data(), of_both.bytes()));
  const std::int64_t dst_bytes = NCxHWx<32>::Size(p.dst());
  Data d{p,
         1.0f / (120.0f * std::sqrt(static_cast<float>(p.r * p.s))),
         std::move(src),
         std::move(filter),
         std::move(taps),
         std::move(of_source),
         std::move(of_both),
         std::move(gpu_taps),
         std::move(bias),
         std::move(gpu_zeros),
         std::move(gpu_source),
         std::move(gpu_both),
         {}};
  const int count = BufferSets(static_cast<std::int64_t>(blocked.size()) + dst_bytes);
  for (int i = 0; i < count; ++i) {
    Data::Set set;
    WEFT_LET(set.src, DeviceBuffer::From(blocked));
    WEFT_LET(set.dst, DeviceBuffer::Create(dst_bytes));
    d.sets.push_back(std::move(set));
  }
  return d;
}

// Checks P on set 0 and keeps it if it is the fastest.
template <class P>
absl::Status Try(const Bench& bench, const Data& d, std::optional<Way>* best) {
  using E = typename P::Epilogue;
  using Op = conv::Convolution<P>;
  const conv::Problem& p = d.problem;
  const absl::StatusOr<Op> op = Op::Create(p);
  if (!op.ok() || !gemm::HasGpuCode<P>()) return absl::OkStatus();
  Way way = {conv::PolicyName(P::config), [&d, op = *op, stream = bench.stream()](int set) {
               typename Op::Arguments args;
               args.src = d.sets[set].src.template as<std::int8_t>();
               args.filter = d.taps.At(d.gpu_taps.data());
               args.bias = d.bias.template as<float>();
               args.dst = d.sets[set].dst.template as<std::int8_t>();
               args.alpha = d.alpha;
               args.filter_is_constant = true;
               if constexpr (E::kFilterZeroPoint) {
                 args.source_correction = d.both_correction.At(d.gpu_both_correction.data());
                 args.filter_zero_point = d.filter_zero.template as<std::int32_t>();
               } else if constexpr (E::kSourceZeroPoint) {
                 args.source_correction = d.source_correction.At(d.gpu_source_correction.data());
               }
               return op.Run(args, stream);
             }};
  WEFT_TRY(d.sets[0].dst.Fill(0x77));
  WEFT_TRY(way.enqueue(0));
  WEFT_LET(const std::vector<std::int8_t> dst, d.sets[0].dst.template Read<std::int8_t>());
  std::mt19937_64 engine(3);
  const auto pick = [&](std::int64_t of) {
    return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(of));
  };
  int wrong = 0;
  for (int i = 0; i < 400; ++i) {
    const std::int64_t n = pick(p.n), k = pick(p.k), y = pick(p.p()), x = pick(p.q());
    epilogues::StageInputs in;
    in.accumulator = static_cast<std::int32_t>(reference::Accumulate(
        p, d.src.data(), d.filter.data() + k * p.r * p.s, n, k, y, x,
        E::kSourceZeroPoint ? kSourceZero : 0, E::kFilterZeroPoint ? FilterZero(k) : 0));
    in.alpha = d.alpha, in.bias = kBias;
    const std::int8_t want = E()(in, {n, static_cast<std::int32_t>(k), static_cast<std::int32_t>(y),
                                      static_cast<std::int32_t>(x)});
    wrong += dst[NCxHWx<32>::Offset(p.dst(), n, k, y, x)] != want;
  }
  if (wrong > 0) return absl::DataLossError(absl::StrCat(way.name, ": ", wrong, " wrong outputs"));
  return bench.KeepFaster(d.count(), std::move(way), best);
}

template <template <class> class Of>
absl::Status TryTiles(const Bench& bench, const Data& d, std::optional<Way>* best) {
  WEFT_TRY(
      (ForEachTile<DepthwiseTiles>([&]<class Tile>() { return Try<Of<Tile>>(bench, d, best); })));
  return best->has_value() ? absl::OkStatus() : absl::UnimplementedError("no tile has GPU code");
}

}  // namespace

absl::Status MeasureDepthwiseZeros(Bench& bench, const conv::Problem& problem) {
  const std::string layer = LayerName(problem, true);
  if (!bench.Wanted(layer)) return absl::OkStatus();
  std::optional<Way> ways[3];
  Contestant contestants[3];
  int sets = 0;
  const auto measure = [&]() -> absl::Status {
    WEFT_LET(const Data d, MakeData(problem));
    sets = d.count();
    WEFT_TRY(TryTiles<DepthwiseRelu>(bench, d, &ways[0]));
    WEFT_TRY(TryTiles<DepthwiseSourceZero>(bench, d, &ways[1]));
    WEFT_TRY(TryTiles<DepthwiseBothZeros>(bench, d, &ways[2]));
    std::vector<Contestant*> all;
    for (int i = 0; i < 3; ++i) {
      contestants[i].enqueue = ways[i]->enqueue;
      WEFT_TRY(bench.watch().Prepare(contestants[i], sets, kSampleMicroseconds));
      all.push_back(&contestants[i]);
    }
    return bench.watch().Interleave(all, 15, 1e6);
  };
  if (const absl::Status status = measure(); !status.ok()) {
    return bench.AddRow(layer, [&](Json*) { return status; });
  }
  const auto us = [&](int i) { return Quantile(contestants[i].samples, 0.5); };
  for (int i = 1; i < 3; ++i) {
    WEFT_TRY(bench.AddRow(layer, [&](Json* row) {
      row->update({{"batch", problem.n},
                   {"kind", "depthwise"},
                   {"variant", i == 1 ? "source zero point" : "zero points of source and filter"},
                   {"kernel", ways[i]->name},
                   {"relu_kernel", ways[0]->name},
                   {"relu_us", Rounded(us(0))},
                   {"ours_us", Rounded(us(i))},
                   {"over_relu", Rounded(us(i) / us(0), 4)},
                   {"noise", Rounded(HalvesDiffer(contestants[i].samples), 4)},
                   {"buffer_sets", sets},
                   {"mismatches", 0}});
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
