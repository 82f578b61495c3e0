// fused_bench: the depthwise and the 1x1 convolution of MobileNet-V2's bottlenecks at N = 16 and 64, as one kernel
// (conv::DepthwisePointwise) and as two, each the fastest of its tiles for the layer. Buffers are rotated past the L2, both
// kernels of a pair are in one CUDA graph, and the outputs of the two ways are compared, every byte.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/bench/bench.hpp"
#include "perf/fused_bench/policies.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/random.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/depthwise_pointwise.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

// A bottleneck after its expansion: c channels, hw rows and columns, 1x1 to k; how often it occurs.
struct Bottleneck {
  std::int64_t c, hw, stride, k;
  int count;
};
constexpr Bottleneck kBottlenecks[] = {
    {32, 112, 1, 16, 1}, {96, 112, 2, 24, 1},  {144, 56, 1, 24, 1}, {144, 56, 2, 32, 1},
    {192, 28, 1, 32, 2}, {192, 28, 2, 64, 1},  {384, 14, 1, 64, 3}, {384, 14, 1, 96, 1},
    {576, 14, 1, 96, 2}, {576, 14, 2, 160, 1}, {960, 7, 1, 160, 2}, {960, 7, 1, 320, 1}};

absl::Status Measure(Bench& bench, const Bottleneck& b, std::int64_t images, Json* row) {
  conv::Problem depthwise = conv::SquareProblem(images, b.c, b.hw, b.c, 3, 1, b.stride);
  depthwise.groups = b.c;
  const conv::Problem pointwise = conv::DepthwisePointwiseProblem{depthwise, b.k}.pointwise();
  WEFT_LET(const auto taps, PackDepthwiseFilter({b.c, 1, 3, 3}, RandomInt8s(b.c * 9, 1)));
  WEFT_LET(const auto filter,
           PackFilter<CxRSKx<32>>(pointwise.filter(), RandomInt8s(b.c * b.k, 2)));
  WEFT_LET(const DeviceBuffer gpu_taps, DeviceBuffer::FromBytes(taps.data(), taps.bytes()));
  WEFT_LET(const DeviceBuffer gpu_filter, DeviceBuffer::FromBytes(filter.data(), filter.bytes()));
  WEFT_LET(const DeviceBuffer bias, DeviceBuffer::From(std::vector<float>(std::max(b.c, b.k), 3)));
  // Sums that fill int8 after either convolution.
  const float depthwise_alpha = 1.0f / 360.0f;
  const float pointwise_alpha = 1.0f / (70.0f * std::sqrt(static_cast<float>(b.c)));
  struct Set {
    DeviceBuffer src, middle, dst;
  };
  const std::int64_t src_bytes = NCxHWx<32>::Size(depthwise.src());
  const std::int64_t dst_bytes = NCxHWx<32>::Size(pointwise.dst());
  std::vector<Set> sets(BufferSets(src_bytes + dst_bytes));
  for (Set& set : sets) {
    WEFT_LET(set.src, DeviceBuffer::Create(src_bytes));
    WEFT_LET(set.middle, DeviceBuffer::Create(NCxHWx<32>::Size(depthwise.dst())));
    WEFT_LET(set.dst, DeviceBuffer::Create(dst_bytes));
    WEFT_TRY(
        FillPlanar(set.src.as<std::int8_t>(), src_bytes, 3 + (&set - sets.data()), bench.stream()));
  }
  const int count = static_cast<int>(sets.size());

  const auto halves = [&]<class Family>(Family family, const conv::Problem& problem) {
    std::vector<Way> ways;
    ForEachPolicy(family, [&]<class P>(int) {
      using Op = conv::Convolution<P>;
      const absl::StatusOr<Op> op = Op::Create(problem);
      if (!op.ok() || !gemm::HasGpuCode<P>()) return;
      ways.push_back({conv::PolicyName(P::config), [&, op = *op](int set) {
                        typename Op::Arguments args;
                        if constexpr (conv::CheckedPolicy<P>::kDepthwise) {
                          args.src = sets[set].src.template as<std::int8_t>();
                          args.dst = sets[set].middle.template as<std::int8_t>();
                          args.filter = taps.At(gpu_taps.data());
                          args.alpha = depthwise_alpha;
                        } else {
                          args.src = sets[set].middle.template as<std::int8_t>();
                          args.dst = sets[set].dst.template as<std::int8_t>();
                          args.filter = filter.At(gpu_filter.data());
                          args.alpha = pointwise_alpha;
                        }
                        args.bias = bias.as<float>();
                        args.filter_is_constant = true;
                        return op.Run(args, bench.stream());
                      }});
    });
    return ways;
  };
  std::vector<Way> firsts = halves(fused::FirstTiles(), depthwise);
  std::vector<Way> seconds = halves(fused::SecondTiles(), pointwise);
  WEFT_LET(const int best_first, Fastest(bench.watch(), count, &firsts));
  WEFT_LET(const int best_second, Fastest(bench.watch(), count, &seconds));
  const Way &first = firsts[best_first], &second = seconds[best_second];
  const Way two = {"two kernels", [&](int set) {
                     WEFT_TRY(first.enqueue(set));
                     return second.enqueue(set);
                   }};
  WEFT_LET(const DeviceBuffer want, CopyOf(sets[0].dst, 0x55, two.enqueue, bench.stream()));

  std::vector<Way> ways;
  ForEachPolicy(fused::FusedTiles(), [&]<class P>(int) {
    using Op = conv::DepthwisePointwise<P>;
    const absl::StatusOr<Op> op = Op::Create(depthwise, b.k, bench.machine().limits());
    if (!op.ok() || !gemm::HasGpuCode<P>()) return;
    const auto enqueue = [&, op = *op](int set) {
      typename Op::Arguments args;
      args.src = sets[set].src.template as<std::int8_t>();
      args.depthwise.filter = taps.At(gpu_taps.data());
      args.depthwise.bias = bias.as<float>();
      args.depthwise.alpha = depthwise_alpha;
      args.filter = filter.At(gpu_filter.data());
      args.bias = bias.as<float>();
      args.dst = sets[set].dst.template as<std::int8_t>();
      args.alpha = pointwise_alpha;
      return op.Run(args, bench.stream());
    };
    const auto wrong = [&, enqueue] {
      return WrongBytes(sets[0].dst, 0x77, enqueue, want, bench.stream());
    };
    ways.push_back(
        {absl::StrCat("fused_", P::config.rows, "x", P::config.warps, "x", P::config.warp_n),
         enqueue, wrong});
  });
  Race race(bench.watch(), count);
  WEFT_TRY(race.AddFastest("ours", std::move(ways)));
  WEFT_TRY(race.Add("two", two));
  WEFT_TRY(race.Add("depthwise", first));
  WEFT_TRY(race.Add("pointwise", second));
  WEFT_TRY(race.Run());
  row->update({{"batch", images}, {"count", b.count}, {"kernel", race.name("ours")}});
  race.Describe("ours", row, true);
  race.Describe("two", row, true);
  race.Describe("depthwise", row);
  race.Describe("pointwise", row);
  row->update(
      {{"ratio", Rounded(race.us("two") / race.us("ours"))},
       {"floor_us", Rounded(bench.CopyMicroseconds(static_cast<double>(src_bytes + dst_bytes)))},
       {"depthwise_kernel", first.name},
       {"pointwise_kernel", second.name},
       {"in_graphs", race.graphed()},
       {"buffer_sets", count},
       {"mismatches", 0}});
  return bench.ReadClock(race.contestant("ours"), row);
}

absl::Status MeasureAll(Bench& bench) {
  for (const std::int64_t images : {16, 64}) {
    for (const Bottleneck& b : kBottlenecks) {
      const std::string name =
          absl::StrCat("n", images, "c", b.c, "h", b.hw, "w", b.hw, "r3s", b.stride, "k", b.k);
      bench.AddRow(name,
                   [&bench, &b, images](Json* row) { return Measure(bench, b, images, row); });
    }
  }
  return bench.Run();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"fused_bench", "depthwise + 1x1 convolution as one kernel",
       "random data; buffers rotated past the L2; CUDA graphs of dependent launches; medians of "
       "interleaved samples; two_us: the fastest depthwise kernel and then the fastest 1x1 kernel; "
       "floor_us: source and destination at the copy bandwidth"},
      weft::perf::MeasureAll);
}
