// fused_bench [--json=FILE] [--layers=PART] [--commit=HASH]: the depthwise and the 1x1 convolution
// of MobileNet-V2's bottlenecks at N = 16 and 64, as one kernel (conv::DepthwisePointwise) and as
// two, each the fastest of its tiles for the layer. Buffers are rotated past the L2, both kernels of
// a pair are in one CUDA graph, and the outputs of the two ways are compared, every byte.
#include "perf/peers/bench.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/fused_bench/policies.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/random.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/depthwise_pointwise.hpp"

namespace weft::perf {
namespace {

constexpr double kSampleMicroseconds = 2000.0;
constexpr float kBias = 3.0f;

// A bottleneck after its expansion: c channels, hw rows and columns, 1x1 to k; how often it occurs.
struct Bottleneck {
  std::int64_t c, hw, stride, k;
  int count;
};
constexpr Bottleneck kBottlenecks[] = {
    {32, 112, 1, 16, 1}, {96, 112, 2, 24, 1},  {144, 56, 1, 24, 1}, {144, 56, 2, 32, 1},
    {192, 28, 1, 32, 2}, {192, 28, 2, 64, 1},  {384, 14, 1, 64, 3}, {384, 14, 1, 96, 1},
    {576, 14, 1, 96, 2}, {576, 14, 2, 160, 1}, {960, 7, 1, 160, 2}, {960, 7, 1, 320, 1}};

// What a round of runs reads and writes.
struct Set {
  DeviceBuffer src, middle, dst;
};

struct Data {
  conv::Problem depthwise, pointwise;
  float depthwise_alpha, pointwise_alpha;
  PackedFilterBuffer<KRSx4x4, std::int8_t, prologues::Depthwise> taps;
  PackedFilterBuffer<CxRSKx<32>> filter;
  DeviceBuffer gpu_taps, gpu_filter, bias, want;
  std::vector<Set> sets;

  int count() const { return static_cast<int>(sets.size()); }
  // Of the fused way: what has to be moved, once.
  std::int64_t bytes() const { return sets[0].src.bytes() + sets[0].dst.bytes(); }
};

absl::StatusOr<Data> MakeData(const Bottleneck& b, std::int64_t images, Stream stream) {
  conv::Problem first = conv::SquareProblem(images, b.c, b.hw, b.c, 3, 1, b.stride);
  first.groups = b.c;
  const conv::Problem second = conv::DepthwisePointwiseProblem{first, b.k}.pointwise();
  WEFT_LET(auto taps, PackDepthwiseFilter({b.c, 1, 3, 3}, RandomInt8s(b.c * 9, 1)));
  WEFT_LET(auto filter, PackFilter<CxRSKx<32>>(second.filter(), RandomInt8s(b.c * b.k, 2)));
  WEFT_LET(DeviceBuffer gpu_taps, DeviceBuffer::FromBytes(taps.data(), taps.bytes()));
  WEFT_LET(DeviceBuffer gpu_filter, DeviceBuffer::FromBytes(filter.data(), filter.bytes()));
  WEFT_LET(DeviceBuffer bias, DeviceBuffer::From(std::vector<float>(std::max(b.c, b.k), kBias)));
  const std::int64_t dst_bytes = NCxHWx<32>::Size(second.dst());
  WEFT_LET(DeviceBuffer want, DeviceBuffer::Create(dst_bytes));
  // Sums that fill int8 after either convolution.
  Data d{first,
         second,
         1.0f / 360.0f,
         1.0f / (70.0f * std::sqrt(static_cast<float>(b.c))),
         std::move(taps),
         std::move(filter),
         std::move(gpu_taps),
         std::move(gpu_filter),
         std::move(bias),
         std::move(want),
         {}};
  const std::int64_t src_bytes = NCxHWx<32>::Size(first.src());
  for (int i = 0; i < BufferSets(src_bytes + dst_bytes); ++i) {
    Set set;
    WEFT_LET(set.src, DeviceBuffer::Create(src_bytes));
    WEFT_LET(set.middle, DeviceBuffer::Create(NCxHWx<32>::Size(first.dst())));
    WEFT_LET(set.dst, DeviceBuffer::Create(dst_bytes));
    WEFT_TRY(FillPlanar(set.src.as<std::int8_t>(), src_bytes, 3 + i, stream));
    d.sets.push_back(std::move(set));
  }
  return d;
}

template <class P>
absl::Status TryConvolution(const Bench& bench, const Data& d, bool is_first,
                            std::optional<Way>* best) {
  using Op = conv::Convolution<P>;
  const absl::StatusOr<Op> op = Op::Create(is_first ? d.depthwise : d.pointwise);
  if (!op.ok() || !gemm::HasGpuCode<P>()) return absl::OkStatus();
  const auto enqueue = [stream = bench.stream(), &d, is_first, op = *op](int set) {
    const Set& s = d.sets[set];
    typename Op::Arguments args;
    args.src = (is_first ? s.src : s.middle).template as<std::int8_t>();
    args.dst = (is_first ? s.middle : s.dst).template as<std::int8_t>();
    if constexpr (conv::CheckedPolicy<P>::kDepthwise) {
      args.filter = d.taps.At(d.gpu_taps.data());
    } else {
      args.filter = d.filter.At(d.gpu_filter.data());
    }
    args.bias = d.bias.as<float>();
    args.alpha = is_first ? d.depthwise_alpha : d.pointwise_alpha;
    args.filter_is_constant = true;
    return op.Run(args, stream);
  };
  return bench.KeepFaster(d.count(), {conv::PolicyName(P::config), enqueue}, best);
}

template <class P>
absl::Status TryFused(const Bench& bench, const Data& d, std::optional<Way>* best) {
  using Op = conv::DepthwisePointwise<P>;
  const absl::StatusOr<Op> op = Op::Create(d.depthwise, d.pointwise.k, bench.machine().limits());
  if (!op.ok() || !gemm::HasGpuCode<P>()) return absl::OkStatus();
  const auto enqueue = [stream = bench.stream(), &d, op = *op](int set) {
    const Set& s = d.sets[set];
    typename Op::Arguments args;
    args.src = s.src.template as<std::int8_t>();
    args.depthwise.filter = d.taps.At(d.gpu_taps.data());
    args.depthwise.bias = d.bias.as<float>();
    args.depthwise.alpha = d.depthwise_alpha;
    args.filter = d.filter.At(d.gpu_filter.data());
    args.bias = d.bias.as<float>();
    args.dst = s.dst.template as<std::int8_t>();
    args.alpha = d.pointwise_alpha;
    return op.Run(args, stream);
  };
  const std::string name =
      absl::StrCat("fused_", P::config.rows, "x", P::config.warps, "x", P::config.warp_n,
                   P::config.split > 1 ? absl::StrCat("_s", P::config.split) : "");
  WEFT_TRY(d.sets[0].dst.Fill(0x77));
  WEFT_TRY(enqueue(0));
  const std::int64_t bytes = d.want.bytes();
  WEFT_LET(const Differences found, Compare(d.sets[0].dst.as<std::int8_t>(),
                                            d.want.as<std::int8_t>(), bytes, bench.stream()));
  if (found.count > 0) {
    return absl::DataLossError(absl::StrCat(name, " differs at ", found.count, " bytes"));
  }
  return bench.KeepFaster(d.count(), {name, enqueue}, best);
}

absl::Status Measure(Bench& bench, const Bottleneck& b, std::int64_t images, Json* row) {
  WEFT_LET(const Data d, MakeData(b, images, bench.stream()));
  std::optional<Way> first, second, fused;
  WEFT_TRY((ForEachTile<FirstTiles>(
      [&]<class T>() { return TryConvolution<First<T>>(bench, d, true, &first); })));
  WEFT_TRY((ForEachTile<SecondTiles>(
      [&]<class T>() { return TryConvolution<Second<T>>(bench, d, false, &second); })));
  if (!first.has_value() || !second.has_value()) {
    return absl::UnimplementedError("no tile takes the halves");
  }
  const auto two = [&](int set) {
    WEFT_TRY(first->enqueue(set));
    return second->enqueue(set);
  };
  WEFT_TRY(d.sets[0].dst.Fill(0x55));
  WEFT_TRY(two(0));
  WEFT_TRY(CudaStatus(cudaMemcpyAsync(d.want.data(), d.sets[0].dst.data(), d.want.bytes(),
                                      cudaMemcpyDefault, bench.stream()),
                      "copy"));
  WEFT_TRY((ForEachTile<FusedTiles>([&]<class T>() { return TryFused<T>(bench, d, &fused); })));
  if (!fused.has_value()) return absl::UnimplementedError("no tile takes the problem");

  const int sets = d.count();
  Contestant ours, both, halves[2];
  ours.enqueue = fused->enqueue;
  both.enqueue = two;
  halves[0].enqueue = first->enqueue;
  halves[1].enqueue = second->enqueue;
  std::vector<Contestant*> all = {&ours, &both, &halves[0], &halves[1]};
  for (Contestant* c : all) WEFT_TRY(bench.watch().Prepare(*c, sets, kSampleMicroseconds));
  WEFT_TRY(bench.watch().Interleave(all, 15, 1e6));
  const auto us = [](const Contestant& c, double at = 0.5) { return Quantile(c.samples, at); };
  const double floor = static_cast<double>(d.bytes()) / bench.machine().ceilings(true).bytes_per_us;
  row->update({{"batch", images},
               {"count", b.count},
               {"kernel", fused->name},
               {"ours_us", Rounded(us(ours))},
               {"ours_p10_us", Rounded(us(ours, 0.1))},
               {"ours_p90_us", Rounded(us(ours, 0.9))},
               {"two_us", Rounded(us(both))},
               {"two_p10_us", Rounded(us(both, 0.1))},
               {"two_p90_us", Rounded(us(both, 0.9))},
               {"ratio", Rounded(us(both) / us(ours))},
               {"floor_us", Rounded(floor)},
               {"depthwise_us", Rounded(us(halves[0]))},
               {"depthwise_kernel", first->name},
               {"pointwise_us", Rounded(us(halves[1]))},
               {"pointwise_kernel", second->name},
               {"in_graphs", ours.graphed && both.graphed},
               {"buffer_sets", sets},
               {"mismatches", 0}});
  return bench.ReadClock(ours, row);
}

absl::Status MeasureAll(Bench& bench) {
  for (const std::int64_t images : {16, 64}) {
    for (const Bottleneck& b : kBottlenecks) {
      const std::string name =
          absl::StrCat("n", images, "c", b.c, "h", b.hw, "w", b.hw, "r3s", b.stride, "k", b.k);
      WEFT_TRY(bench.Row(name, [&](Json* row) { return Measure(bench, b, images, row); }));
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA

int main(int argc, char** argv) {
  constexpr weft::perf::BenchProgram kProgram = {
      "fused_bench", "depthwise + 1x1 convolution as one kernel",
      "random data; buffers rotated past the L2; CUDA graphs of dependent launches; medians of "
      "interleaved samples; "
      "two_us: the fastest depthwise kernel and then the fastest 1x1 kernel; floor_us: source and "
      "destination at the copy bandwidth"};
#if WEFT_HAVE_CUDA
  return weft::perf::BenchMain(argc, argv, kProgram, weft::perf::MeasureAll);
#else
  return weft::perf::BenchMain(argc, argv, kProgram, nullptr);
#endif
}
