// epilogue_bench [--kinds=KIND,...]: what an epilogue costs. ResNet-50's 3x3 layers over NCxHWx<32> at N = 16 and 64 with
// each operator of epilogue_bench/variants.def (activations, destinations, zero points, further outputs, functors of the
// source, types of outputs) beside the same convolution with ReLU over the same tiles; global average pooling; zero points
// of depthwise convolutions; and at N = 1, layers that are bound by their filters, with filters of int8 and of int4.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "perf/epilogue_bench/variants.hpp"
#include "perf/support/layers.hpp"
#include "weft/conv/pooled_average.hpp"
#include "weft/layouts/packed_int4.hpp"
#include "weft/layouts/packing.hpp"

ABSL_FLAG(std::vector<std::string>, kinds, {},
          "only rows of these kinds: activation, layout, zero point, output, source, type, "
          "depthwise, filter");

namespace weft::perf {
namespace {

// What --kinds leaves in.
bool WantedKind(const std::string& kind) {
  const std::vector<std::string> kinds = absl::GetFlag(FLAGS_kinds);
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// The scale with which the sums have a standard deviation of 45 steps of the output.
float AlphaFor(const conv::Problem& p) {
  const auto terms = static_cast<float>(p.c / p.groups * p.r * p.s);
  return 1.0f / (120.0f * std::sqrt(terms));
}

using Rows = absl::StatusOr<std::vector<Json>>;

// A row for each operator, all timed in turns.
class Variants {
 public:
  Variants(const Bench& bench, const conv::Problem& problem) : bench_(bench), problem_(problem) {}

  Rows Measure(const Json& identity) {
    WEFT_TRY(Run());
    std::vector<Json> rows;
    for (const Row& row : rows_) {
      rows.push_back(Bench::RowOf(identity, [&](Json* json) { return Describe(row, json); }));
    }
    return rows;
  }

 private:
  using WaysFunction = decltype(Variant::ways);
  struct Relu {
    std::string what;  // in the race
    int tile = 0;
  };
  struct Row {
    const char *kind, *name;
    const Relu* relu;        // over the same tiles
    std::string same, best;  // in the race: over the tile of that ReLU, and over its own best one
    absl::Status status;
  };

  absl::Status Run() {
    const conv::Problem& p = problem_;
    std::vector<std::int8_t> filter = RandomInt8s(KCRS::Size(p.filter()), 2);
    WEFT_LET(auto packed, PackFilter<CxRSKx<32>>(p.filter(), filter));
    WEFT_LET(data_, OperatorData::Create({.src = p.src(),
                                          .dst = p.dst(),
                                          .filter_bytes = packed.bytes(),
                                          .alpha = AlphaFor(p),
                                          .epilogues = true},
                                         bench_.stream()));
    filters_.emplace(SharedFilters{{.problem = p, .filter = std::move(filter)}, std::move(packed)});
    WEFT_TRY(filters_->ToGpu(data_.count()));
    WEFT_TRY(filters_->AddCorrections());
    WEFT_LET(data_.window_sums, DeviceBuffer::From(WindowSums(filters_->sum, data_)));
    WEFT_LET(averages_, DeviceBuffer::Create(p.n * p.k));
    race_.emplace(bench_.watch(), data_.count());
    WEFT_TRY(AddRelu(&VariantWays<variants::Relu, variants::Tiles>).status());
    WEFT_TRY(Add("activation", VariantsOf<Kind::activation>()));
    WEFT_TRY(Add("layout", VariantsOf<Kind::layout>()));
    WEFT_TRY(Add("zero point", VariantsOf<Kind::zero_point>()));
    WEFT_TRY(Add("output", VariantsOf<Kind::output>()));
    if (kAllTiles && WantedKind("output")) WEFT_TRY(AddAverage());
    WEFT_TRY(Add("source", VariantsOf<Kind::source>()));
    WEFT_TRY(Add("type", VariantsOf<Kind::type>()));
    return race_->Run(4e6);
  }

  // The fastest of the convolutions with ReLU over a list of tiles.
  absl::StatusOr<const Relu*> AddRelu(WaysFunction ways_of) {
    const auto [found, is_new] = relus_.try_emplace(ways_of);
    if (!is_new) return &found->second;
    std::vector<Way> ways = ways_of(data_, *filters_, bench_.stream());
    WEFT_LET(const int best, Fastest(bench_.watch(), data_.count(), &ways));
    found->second = {absl::StrCat("relu ", relus_.size()), ways[best].tile};
    WEFT_TRY(race_->Add(found->second.what, ways[best]));
    return &found->second;
  }

  absl::Status Add(const char* kind, const std::vector<Variant>& variants) {
    if (!WantedKind(kind)) return absl::OkStatus();
    for (const Variant& v : variants) {
      WEFT_LET(const Relu* const relu, AddRelu(v.relu));
      AddRow(kind, v.name, relu, v.ways(data_, *filters_, bench_.stream()));
    }
    return absl::OkStatus();
  }

  void AddRow(const char* kind, const char* name, const Relu* relu, std::vector<Way> ways) {
    Row row = {kind, name, relu, "", "", absl::OkStatus()};
    row.status = [&]() -> absl::Status {
      WEFT_LET(const int best, Fastest(bench_.watch(), data_.count(), &ways));
      for (const Way& way : ways) {
        const bool same = way.tile == relu->tile, is_best = &way == &ways[best];
        if (!same && !is_best) continue;
        const std::string what = absl::StrCat(kind, " ", name, " ", way.tile);
        if (same) row.same = what;
        if (is_best) row.best = what;
        WEFT_TRY(race_->Add(what, way));
      }
      return absl::OkStatus();
    }();
    if (!row.status.ok()) (void)cudaGetLastError();
    rows_.push_back(std::move(row));
  }

  // Sums of images, and then averages of them: all of a global average pooling.
  absl::Status AddAverage() {
    using Average = conv::PooledAverage<std::int8_t, NHWC>;
    WEFT_LET(const Average average, Average::Create(problem_.n, problem_.k));
    using SumsAlone = variants::With<variants::ReluAnd<epilogues::OnlyImageSums>>;
    std::vector<Way> ways =
        VariantWays<SumsAlone::Of, variants::Tiles>(data_, *filters_, bench_.stream());
    for (Way& way : ways) {
      way.enqueue = [this, average, convolve = way.enqueue](int set) {
        WEFT_TRY(convolve(set));
        return average.Run({.sums = data_.sums.as<std::int32_t>(),
                            .dst = averages_.as<std::int8_t>(),
                            .alpha = 1.0f / static_cast<float>(problem_.p() * problem_.q())},
                           bench_.stream());
      };
    }
    WEFT_LET(const Relu* const relu, AddRelu(&VariantWays<variants::Relu, variants::Tiles>));
    AddRow("output", "global average pooling, two kernels", relu, std::move(ways));
    return absl::OkStatus();
  }

  absl::Status Describe(const Row& row, Json* json) const {
    json->update({{"batch", problem_.n},
                  {"kind", row.kind},
                  {"variant", row.name},
                  {"kernel", race_->name(row.relu->what)},
                  {"buffer_sets", data_.count()}});
    WEFT_TRY(row.status);
    const double relu = race_->us(row.relu->what);
    const double over_all = race_->us("relu 1");  // over the tiles of wgmma_sm90
    (*json)["relu_us"] = Rounded(relu);
    if (!row.same.empty()) {
      const double us = race_->us(row.same);
      const Contestant& contestant = race_->contestant(row.same);
      json->update(
          {{"ours_us", Rounded(us)},
           {"ours_p10_us", Rounded(race_->us(row.same, 0.1))},
           {"ours_p90_us", Rounded(race_->us(row.same, 0.9))},
           {"over_relu", Rounded(us / relu, 4)},
           {"noise", Rounded(HalvesDiffer(contestant.samples), 4)},
           {"in_graphs", contestant.graphed && race_->contestant(row.relu->what).graphed}});
    }
    json->update({{"best_kernel", race_->name(row.best)},
                  {"best_us", Rounded(race_->us(row.best))},
                  {"best_over_relu", Rounded(race_->us(row.best) / over_all, 4)},
                  {"mismatches", 0}});
    return absl::OkStatus();
  }

  const Bench& bench_;
  const conv::Problem problem_;
  OperatorData data_;
  std::optional<SharedFilters> filters_;
  DeviceBuffer averages_;
  std::optional<Race> race_;
  std::map<WaysFunction, Relu> relus_;  // whose addresses last
  std::vector<Row> rows_;
};

// A row for the source's zero point and one for both, over the quicker of two tiles, beside the quicker one without.
Rows MeasureDepthwise(const Bench& bench, const conv::Problem& p, const Json& identity) {
  std::vector<std::int8_t> filter = RandomInt8s(p.c * p.r * p.s, 2);
  WEFT_LET(auto packed, PackDepthwiseFilter({p.c, 1, p.r, p.s}, filter));
  WEFT_LET(
      const OperatorData d,
      OperatorData::Create({.src = p.src(), .dst = p.dst(), .alpha = AlphaFor(p)}, bench.stream()));
  Filters filters{ConvolutionSum{p, std::move(filter)}, std::move(packed)};
  WEFT_TRY(filters.ToGpu(d.count()));
  WEFT_TRY(filters.AddCorrections(true));
  Race race(bench.watch(), d.count());
  using namespace variants;
  const auto add = [&]<class Family>(const char* what, Family) {
    return race.AddFastest(what, WaysOf<conv::Convolution, Family>(d, filters, bench.stream()));
  };
  WEFT_TRY(add("relu", PoliciesOf<DepthwiseRelu, DepthwiseTiles>()));
  WEFT_TRY(add("source zero point", PoliciesOf<DepthwiseSourceZero, DepthwiseTiles>()));
  WEFT_TRY(
      add("zero points of source and filter", PoliciesOf<DepthwiseBothZeros, DepthwiseTiles>()));
  WEFT_TRY(race.Run());
  std::vector<Json> rows;
  for (const char* what : {"source zero point", "zero points of source and filter"}) {
    rows.push_back(Bench::RowOf(identity, [&](Json* row) {
      row->update({{"batch", p.n},
                   {"kind", "depthwise"},
                   {"variant", what},
                   {"kernel", race.name(what)},
                   {"relu_kernel", race.name("relu")},
                   {"relu_us", Rounded(race.us("relu"))},
                   {"ours_us", Rounded(race.us(what))},
                   {"over_relu", Rounded(race.us(what) / race.us("relu"), 4)},
                   {"noise", Rounded(HalvesDiffer(race.contestant(what).samples), 4)},
                   {"buffer_sets", d.count()},
                   {"mismatches", 0}});
      return absl::OkStatus();
    }));
  }
  return rows;
}

// Filters of int8 and int4 through the tiles of mma_sm80, those of int4 also through wgmma_sm90, and the
// quickest of all for int8.
Rows MeasureInt4(const Bench& bench, const conv::Problem& p, const Json& identity) {
  std::vector<std::int8_t> values = RandomInt8s(KCRS::Size(p.filter()), 2);
  for (std::int8_t& v : values) v = static_cast<std::int8_t>(v >> 4);
  WEFT_LET(auto packed8, PackFilter<CxRSKx<32>>(p.filter(), values));
  WEFT_LET(auto packed4, PackFilter<PackedInt4<CxRSKx<32>>>(p.filter(), values));
  WEFT_LET(const OperatorData d, OperatorData::Create({.src = p.src(),
                                                       .dst = p.dst(),
                                                       .filter_bytes = packed4.bytes(),
                                                       .alpha = 16.0f * AlphaFor(p)},
                                                      bench.stream()));
  Filters int8{ConvolutionSum{p, values}, std::move(packed8)};
  Filters int4{ConvolutionSum{p, values}, std::move(packed4)};
  WEFT_TRY(int8.ToGpu(d.count()));
  WEFT_TRY(int4.ToGpu(d.count()));
  Race race(bench.watch(), d.count());
  using namespace variants;
  const auto ways = [&]<class Family>(const auto& filters, Family) {
    return WaysOf<conv::Convolution, Family>(d, filters, bench.stream());
  };
  std::vector<Way> of_int4 = ways(int4, PoliciesOf<Int4Relu, Int4Tiles>());
  for (Way& way : ways(int4, PoliciesOf<Int4Relu, Int4WgmmaTiles>())) {
    of_int4.push_back(std::move(way));
  }
  WEFT_TRY(race.AddFastest("int8", ways(int8, PoliciesOf<Relu, Int4Tiles>())));
  WEFT_TRY(race.AddFastest("int4", std::move(of_int4)));
  WEFT_TRY(race.AddFastest("all_int8", ways(int8, PoliciesOf<Relu, FewPixelTiles>())));
  WEFT_TRY(race.Run(2e6));
  const char* const best = race.us("all_int8") < race.us("int8") ? "all_int8" : "int8";
  const auto floor = [&](std::int64_t filter_bytes) {
    return Rounded(bench.CopyMicroseconds(
        static_cast<double>(filter_bytes + NCxHWx<32>::Size(p.src()) + NCxHWx<32>::Size(p.dst()))));
  };
  return std::vector<Json>{Bench::RowOf(identity, [&](Json* row) {
    row->update({{"batch", p.n},
                 {"kind", "filter"},
                 {"variant", "filters of int4"},
                 {"kernel", race.name("int4")},
                 {"int4_us", Rounded(race.us("int4"))},
                 {"int4_filter_kb", Rounded(int4.packed.bytes() / 1024.0, 1)},
                 {"int4_floor_us", floor(int4.packed.bytes())},
                 {"int8_kernel", race.name("int8")},
                 {"int8_us", Rounded(race.us("int8"))},
                 {"int8_filter_kb", Rounded(int8.packed.bytes() / 1024.0, 1)},
                 {"int8_floor_us", floor(int8.packed.bytes())},
                 {"int8_over_int4", Rounded(race.us("int8") / race.us("int4"), 4)},
                 {"best_int8_kernel", race.name(best)},
                 {"best_int8_us", Rounded(race.us(best))},
                 {"best_int8_over_int4", Rounded(race.us(best) / race.us("int4"), 4)},
                 {"noise", Rounded(HalvesDiffer(race.contestant("int4").samples), 4)},
                 {"buffer_sets", d.count()},
                 {"mismatches", 0}});
    return bench.ReadClock(race.contestant("int4"), row);
  })};
}

// Adds layers, each of which measure(bench, problem, identity) makes rows of.
template <class MeasureLayer>
absl::Status AddLayers(Bench& bench, const std::vector<const char*>& names,
                       const std::vector<int>& batches, const MeasureLayer& measure) {
  for (const char* name : names) {
    for (const int images : batches) {
      WEFT_LET(Layer layer, ParseLayer(name));
      layer.problem.n = images;
      const Json identity = {{"layer", LayerName(layer.problem, true)}};
      bench.Add(identity, [&bench, measure, p = layer.problem, identity](const Measuring&) {
        return measure(bench, p, identity);
      });
    }
  }
  return absl::OkStatus();
}

absl::Status MeasureAll(Bench& bench) {
  const std::vector<std::string> kinds = absl::GetFlag(FLAGS_kinds);
  bench.notes()["settings"] = kinds.empty() ? "all kinds" : absl::StrJoin(kinds, ", ");
  const bool variants =
      kinds.empty() || std::any_of(kinds.begin(), kinds.end(), [](const auto& kind) {
        return kind != "filter" && kind != "depthwise";
      });
  if (variants) {
    WEFT_TRY(AddLayers(
        bench, {"c64h56w56k64r3s1", "c128h28w28k128r3s1", "c256h14w14k256r3s1", "c512h7w7k512r3s1"},
        {16, 64}, [](const Bench& b, const conv::Problem& p, const Json& identity) {
          return Variants(b, p).Measure(identity);
        }));
  }
  if (WantedKind("depthwise")) {  // of MobileNet-V2
    WEFT_TRY(AddLayers(bench,
                       {"c192h28w28k192r3s1g192", "c384h14w14k384r3s1g384", "c960h7w7k960r3s1g960"},
                       {64}, MeasureDepthwise));
  }
  if (WantedKind("filter")) {  // of ResNet-50, and fully connected ones of ResNet-50 and VGG-16
    WEFT_TRY(AddLayers(
        bench,
        {"c512h7w7k512r3s1", "c512h7w7k2048r1s1", "c2048h7w7k512r1s1", "c512h14w14k512r3s2",
         "c2048h1w1k1024r1s1", "c4096h1w1k4096r1s1", "c512h7w7k4096r7s1p0"},
        {1}, MeasureInt4));
  }
  return bench.Run();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"epilogue_bench", "what an epilogue costs",
       "random data; source, filter and destination rotated past the L2; CUDA graphs, dependent "
       "launches; medians of interleaved samples; ours_us: over the tile that is quickest with "
       "ReLU of those that the operator is measured over; best_us: over the operator's own "
       "quickest tile; relu_us: the quickest with ReLU of them; best_over_relu: over the quickest "
       "with ReLU of wgmma_sm90"},
      weft::perf::MeasureAll);
}
