// bottleneck_bench: the bottlenecks of the first stage of ResNet-50, as one kernel (conv::Bottleneck) and as one for each
// convolution, each the fastest of its tiles. Buffers are rotated past the L2, all kernels of a block are in one CUDA graph,
// and the outputs of the two ways are compared, every byte.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/bench/bench.hpp"
#include "perf/bottleneck_bench/policies.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/random.hpp"
#include "weft/conv/bottleneck.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

using conv::BottleneckProblem;

// A convolution's filter, biases and scales on the GPU; its sums fill uint8.
struct Constants {
  PackedFilterBuffer<CxRSKx<32>, std::int8_t> packed;
  DeviceBuffer filter, bias, alpha;

  static absl::StatusOr<Constants> Create(const conv::Problem& p, std::uint64_t seed) {
    WEFT_LET(auto packed,
             PackFilter<CxRSKx<32>>(p.filter(), RandomInt8s(p.k * p.c * p.r * p.s, seed)));
    WEFT_LET(DeviceBuffer filter, DeviceBuffer::FromBytes(packed.data(), packed.bytes()));
    const float sums = 70.0f * 110.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s));
    WEFT_LET(DeviceBuffer bias,
             DeviceBuffer::From(std::vector<std::int32_t>(p.k, static_cast<std::int32_t>(sums))));
    WEFT_LET(DeviceBuffer alpha, DeviceBuffer::From(std::vector<float>(p.k, 60.0f / sums)));
    return Constants{std::move(packed), std::move(filter), std::move(bias), std::move(alpha)};
  }
  template <class Args>
  void Fill(Args* args) const {
    args->filter = packed.At(filter.data());
    args->bias = bias.as<std::int32_t>();
    args->channel_alpha = alpha.as<float>();
  }
};

void SetSum(bottleneck::Sum* epilogue) {
  epilogue->Get<epilogues::QuantizedAdd<>>().sum_ratio = 0.7f;
  epilogue->Get<epilogues::QuantizedAdd<>>().fixed = -3.25f;
}
constexpr float kGamma = 0.6f;

absl::Status Measure(Bench& bench, const BottleneckProblem& p, Json* row) {
  const bool projects = p.c != p.k;
  WEFT_LET(const Constants first, Constants::Create(p.first(), 1));
  WEFT_LET(const Constants second, Constants::Create(p.second(), 2));
  WEFT_LET(const Constants third, Constants::Create(p.third(), 3));
  WEFT_LET(const Constants projection, Constants::Create(p.projection(), 4));
  struct Set {
    DeviceBuffer x, t1, t2, residual, y;
  };
  const std::int64_t x_bytes = NCxHWx<32>::Size(p.src()), y_bytes = NCxHWx<32>::Size(p.dst());
  const std::int64_t middle_bytes = NCxHWx<32>::Size(p.second().src());
  std::vector<Set> sets(BufferSets(x_bytes + y_bytes));
  for (Set& set : sets) {
    WEFT_LET(set.x, DeviceBuffer::Create(x_bytes));
    WEFT_LET(set.t1, DeviceBuffer::Create(middle_bytes));
    WEFT_LET(set.t2, DeviceBuffer::Create(middle_bytes));
    WEFT_LET(set.residual, DeviceBuffer::Create(projects ? y_bytes : 256));
    WEFT_LET(set.y, DeviceBuffer::Create(y_bytes));
    WEFT_TRY(
        FillPlanar(set.x.as<std::int8_t>(), x_bytes, 3 + (&set - sets.data()), bench.stream()));
  }
  const int count = static_cast<int>(sets.size());

  const auto separate = [&]<class Family>(Family family, const conv::Problem& problem,
                                          const Constants& constants, DeviceBuffer Set::* from,
                                          DeviceBuffer Set::* to) {
    std::vector<Way> ways;
    ForEachPolicy(family, [&]<class P>(int) {
      using Op = conv::Convolution<P>;
      const absl::StatusOr<Op> op = Op::Create(problem);
      if (!op.ok() || !gemm::HasGpuCode<P>()) return;
      ways.push_back(
          {conv::PolicyName(P::config), [&, from, to, op = *op](int set) {
             typename Op::Arguments args;
             args.src = (sets[set].*from).template as<std::uint8_t>();
             args.dst = (sets[set].*to).template as<std::uint8_t>();
             constants.Fill(&args);
             args.filter_is_constant = true;
             if constexpr (P::Epilogue::kHasResidual) {
               args.residual =
                   (projects ? sets[set].residual : sets[set].x).template as<std::uint8_t>();
               args.gamma = kGamma;
               SetSum(&args.epilogue);
             }
             return op.Run(args, bench.stream());
           }});
    });
    return ways;
  };
  using namespace bottleneck;
  std::vector<Way> parts;
  const auto add = [&](std::vector<Way> ways) -> absl::Status {
    WEFT_LET(const int best, Fastest(bench.watch(), count, &ways));
    parts.push_back(std::move(ways[best]));
    return absl::OkStatus();
  };
  WEFT_TRY(add(separate(ToBytesTiles(), p.first(), first, &Set::x, &Set::t1)));
  WEFT_TRY(add(separate(ToBytesTiles(), p.second(), second, &Set::t1, &Set::t2)));
  if (projects) {
    WEFT_TRY(add(separate(ToBytesTiles(), p.projection(), projection, &Set::x, &Set::residual)));
  }
  WEFT_TRY(add(separate(ToSumTiles(), p.third(), third, &Set::t2, &Set::y)));
  std::string names;
  for (const Way& part : parts) absl::StrAppend(&names, names.empty() ? "" : " ", part.name);
  const Way apart = {names, [&](int set) -> absl::Status {
                       for (const Way& part : parts) WEFT_TRY(part.enqueue(set));
                       return absl::OkStatus();
                     }};
  WEFT_LET(const DeviceBuffer want, CopyOf(sets[0].y, 0x55, apart.enqueue, bench.stream()));

  std::vector<Way> ways;
  const auto fused = [&]<class Family>(Family family) {
    ForEachPolicy(family, [&]<class P>(int) {
      using Op = conv::Bottleneck<P>;
      const absl::StatusOr<Op> op = Op::Create(p, bench.machine().limits());
      if (!op.ok() || !gemm::HasGpuCode<P>()) return;
      const auto enqueue = [&, op = *op](int set) {
        typename Op::Arguments args;
        args.src = sets[set].x.template as<std::uint8_t>();
        first.Fill(&args.first);
        second.Fill(&args.second);
        if constexpr (conv::kProjects<P>) projection.Fill(&args.projection);
        third.Fill(&args);
        args.gamma = kGamma;
        SetSum(&args.epilogue);
        args.dst = sets[set].y.template as<std::uint8_t>();
        args.filters_are_constant = true;
        return op.Run(args, bench.stream());
      };
      const auto wrong = [&, enqueue] {
        return WrongBytes(sets[0].y, 0x77, enqueue, want, bench.stream());
      };
      ways.push_back({absl::StrCat("bottleneck_", P::config.rows, "x", P::config.warpgroups, "x",
                                   P::config.patches),
                      enqueue, wrong});
    });
  };
  if (projects) {
    fused(ProjectedTiles());
  } else {
    fused(IdentityTiles());
  }
  Race race(bench.watch(), count);
  std::vector<Way> all = ways;
  WEFT_TRY(race.AddFastest("ours", std::move(ways)));
  for (const Way& way : all) WEFT_TRY(race.Add(way.name, way));
  WEFT_TRY(race.Add("apart", apart));
  WEFT_TRY(race.Run());
  row->update({{"batch", p.n}, {"kernel", race.name("ours")}});
  race.Describe("ours", row, true);
  race.Describe("apart", row, true);
  for (const Way& way : all) race.Describe(way.name, row);
  row->update(
      {{"ratio", Rounded(race.us("apart") / race.us("ours"))},
       {"floor_us", Rounded(bench.CopyMicroseconds(static_cast<double>(x_bytes + y_bytes)))},
       {"apart_kernels", names},
       {"in_graphs", race.graphed()},
       {"buffer_sets", count},
       {"mismatches", 0}});
  return bench.ReadClock(race.contestant("ours"), row);
}

absl::Status MeasureAll(Bench& bench) {
  for (const std::int64_t images : {512, 64, 16, 1}) {
    for (const std::int64_t c : {256, 64}) {
      const BottleneckProblem p = {.n = images, .h = 56, .w = 56, .c = c, .k = 256};
      bench.AddRow(conv::ProblemName(p), [&bench, p](Json* row) { return Measure(bench, p, row); });
    }
  }
  return bench.Run();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"bottleneck_bench", "bottlenecks of ResNet-50 as one kernel",
       "random data; buffers rotated past the L2; CUDA graphs of dependent launches; medians of "
       "interleaved samples; apart_us: the fastest kernel of each convolution, one after the "
       "other; "
       "floor_us: source and destination at the copy bandwidth"},
      weft::perf::MeasureAll);
}
