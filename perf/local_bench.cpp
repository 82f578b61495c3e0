// local_bench: LocalFilter at N = 16 and 64, the bytes a second that it reads weights at. Every output pixel has a filter
// of its own, so the weights are nearly all there is to move, once; those of int4 are half as many bytes. A few hundred
// outputs of each run are compared with the sums computed here.
#include <cmath>
#include <utility>
#include <vector>

#include "perf/bench/operator_ways.hpp"
#include "perf/local_bench/policies.hpp"
#include "perf/support/copy_time.hpp"
#include "perf/support/layers.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

// A row for every tile of a family over filters of one format.
template <class Filter, class Family>
absl::StatusOr<std::vector<Json>> MeasureTiles(const Bench& bench, const conv::Problem& p,
                                               const Json& identity) {
  constexpr int kBits = kIsInt4<Filter> ? 4 : 8;
  std::vector<std::int8_t> values = RandomInt8s(p.p() * p.q() * KCRS::Size(p.filter()), 2);
  for (std::int8_t& v : values) v = static_cast<std::int8_t>(v >> (8 - kBits));
  WEFT_LET(auto packed,
           (PackFilters<prologues::LocalFilter, Filter>(p.filter(), p.p() * p.q(), values)));
  const auto terms = static_cast<float>(p.c * p.r * p.s);
  WEFT_LET(
      const OperatorData d,
      OperatorData::Create({.src = p.src(),
                            .dst = p.dst(),
                            .filter_bytes = packed.bytes(),
                            .alpha = std::ldexp(1.0f / (120.0f * std::sqrt(terms)), 8 - kBits)},
                           bench.stream()));
  Filters filters{ConvolutionSum{p, std::move(values), true}, std::move(packed)};
  WEFT_TRY(filters.ToGpu(1));
  const std::int64_t reads = filters.packed.bytes() + NCxHWx<32>::Size(p.src());
  const std::int64_t writes = NCxHWx<32>::Size(p.dst());
  const auto bytes = static_cast<double>(reads + writes);
  const auto measure = [&](const Way& way, Json* row) -> absl::Status {
    (*row)["kernel"] = way.name;
    // The weights alone are larger than the L2, so that one set of buffers is enough.
    Race race(bench.watch(), 1);
    WEFT_TRY(race.AddFastest("ours", {way}));
    WEFT_LET(CopyTime copy, CopyTime::Create(reads, writes, bench.machine().limits().sm_count,
                                             bench.watch(), Race::kSampleMicroseconds));
    race.Add("copy", copy.name(), &copy.contestant());
    WEFT_TRY(race.Run());
    const double us = race.us("ours");
    row->update({{"ours_us", Rounded(us)},
                 {"mbytes", Rounded(bytes * 1e-6)},
                 {"copy_us", Rounded(race.us("copy"))},
                 {"copy_kernel", copy.name()},
                 {"copy_over_ours", Rounded(race.us("copy") / us)},
                 {"share_of_copy", Rounded(bench.CopyMicroseconds(bytes) / us)},
                 {"mismatches", 0}});
    return bench.ReadClock(race.contestant("ours"), row);
  };
  std::vector<Json> rows;
  ForEachPolicy(Family(), [&]<class P>(int) {
    if (P::config.threadblock.m != p.n) return;
    rows.push_back(Bench::RowOf(identity, [&](Json* row) -> absl::Status {
      const auto ways = WaysOf<conv::Convolution, gemm::Family<P>>(d, filters, bench.stream());
      if (ways.empty()) return absl::UnimplementedError("the tile does not take the layer");
      return measure(ways[0], row);
    }));
  });
  return rows;
}

template <class Filter, class Family>
void Add(Bench& bench, const conv::Problem& p) {
  const Json identity = {{"layer", LayerName(p, true)}, {"filter_bits", kIsInt4<Filter> ? 4 : 8}};
  bench.Add(identity, [&bench, p, identity](const Measuring&) {
    return MeasureTiles<Filter, Family>(bench, p, identity);
  });
}

absl::Status MeasureAll(Bench& bench) {
  for (const int images : {16, 64}) {
    for (const char* name :
         {"c64h56w56k64r3s1", "c128h28w28k128r3s1", "c256h14w14k256r3s1", "c64h56w56k64r3s2",
          "c128h56w56k128r3s2", "c256h56w56k128r1s1", "c512h28w28k256r1s1"}) {
      WEFT_LET(Layer layer, ParseLayer(name));
      layer.problem.n = images;
      Add<local::Int8, local::Int8Tiles>(bench, layer.problem);
      Add<local::Int4, local::Int4Tiles>(bench, layer.problem);
    }
  }
  return bench.Run();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"local_bench", "LocalFilter, the bytes a second that it reads weights at",
       "random data; weights larger than the L2; CUDA graphs; medians; share_of_copy: weights, "
       "source and destination a second over what a large copy reads and writes; copy_us: of a "
       "copy that reads and writes as many bytes as the layer"},
      weft::perf::MeasureAll);
}
