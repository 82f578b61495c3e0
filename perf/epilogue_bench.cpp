// epilogue_bench [--json=FILE] [--layers=PART] [--kinds=KIND,...] [--commit=HASH] [--stop_after_s=SECONDS]: what an epilogue costs. ResNet-50's 3x3
// layers over NCxHWx<32> at N = 16 and 64 with each operator of epilogue_bench/variants.def (activations,
// destinations, zero points, further outputs, functors of the source, types of outputs) beside the same
// convolution with ReLU over the same tiles; global average pooling; zero points of depthwise convolutions; and at N = 1, layers that are bound by their filters, with filters of int8 and of int4.
//
// A sample of the outputs of every operator and tile is compared with sums computed here, exactly.
#include "perf/peers/bench.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "perf/epilogue_bench/depthwise.hpp"
#include "perf/epilogue_bench/variant.hpp"
#include "perf/support/layers.hpp"
#include "weft/conv/pooled_average.hpp"

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

constexpr double kSampleMicroseconds = 2000.0, kTryMicroseconds = 500.0;

// One operator on one layer: its runs, and those that are timed.
struct Candidate {
  const char* kind = "";
  const char* name = "";
  absl::Status status;
  int mismatches = 0;
  std::vector<TileRun> runs;
  int best = -1;              // the quickest of them
  Contestant same, quickest;  // over the baseline's tile, and over its own quickest one
  bool in_same = false, in_quickest = false;
  const Candidate* relu = nullptr;  // over the same tiles

  int IndexOf(int tile) const {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].tile == tile) return static_cast<int>(i);
    }
    return -1;
  }
};

// Checks all of a candidate's runs, times each for a moment and finds the quickest.
absl::Status TryTiles(const Bench& bench, int sets, Candidate* c) {
  if (c->runs.empty()) return absl::UnimplementedError("no tile with GPU code takes the layer");
  for (std::size_t i = 0; i < c->runs.size(); ++i) {
    WEFT_LET(const int wrong, c->runs[i].wrong());
    c->mismatches += wrong;
    Way& way = c->runs[i].way;
    WEFT_LET(way.us, bench.watch().Short(way.enqueue, sets, kTryMicroseconds));
    if (c->best < 0 || way.us < c->runs[c->best].way.us) c->best = static_cast<int>(i);
  }
  return absl::OkStatus();
}

absl::Status Prepare(const Bench& bench, int sets, const Way& way, Contestant* contestant,
                     std::vector<Contestant*>* all) {
  contestant->enqueue = way.enqueue;
  WEFT_TRY(bench.watch().Prepare(*contestant, sets, kSampleMicroseconds));
  all->push_back(contestant);
  return absl::OkStatus();
}

// Sums of images, and then averages of them: all of a global average pooling. `sums`: runs of
// SumsAlone.
absl::Status AddAverage(const LayerData& d, const DeviceBuffer& averages, cudaStream_t stream,
                        std::vector<TileRun>* sums) {
  using Average = conv::PooledAverage<std::int8_t, NHWC>;
  WEFT_LET(const Average average, Average::Create(d.problem.n, d.problem.k));
  for (TileRun& run : *sums) {
    run.way.enqueue = [&d, &averages, stream, average, convolve = run.way.enqueue](int set) {
      WEFT_TRY(convolve(set));
      return average.Run({.sums = d.sums.as<std::int32_t>(),
                          .dst = averages.as<std::int8_t>(),
                          .alpha = 1.0f / static_cast<float>(d.problem.p() * d.problem.q())},
                         stream);
    };
  }
  return absl::OkStatus();
}

// baseline: ReLU over all tiles of wgmma_sm90.
void Describe(const Candidate& c, const Candidate& baseline, Json* row) {
  const auto us = [](const Contestant& x, double at = 0.5) { return Quantile(x.samples, at); };
  const double relu = us(c.relu->same);
  (*row)["relu_us"] = Rounded(relu);
  if (c.in_same) {
    row->update({{"ours_us", Rounded(us(c.same))},
                 {"ours_p10_us", Rounded(us(c.same, 0.1))},
                 {"ours_p90_us", Rounded(us(c.same, 0.9))},
                 {"over_relu", Rounded(us(c.same) / relu, 4)},
                 {"noise", Rounded(HalvesDiffer(c.same.samples), 4)},
                 {"in_graphs", c.same.graphed && c.relu->same.graphed}});
  }
  const Contestant& quickest = c.in_quickest ? c.quickest : c.same;
  row->update({{"best_kernel", c.runs[c.best].way.name},
               {"best_us", Rounded(us(quickest))},
               {"best_over_relu", Rounded(us(quickest) / us(baseline.same), 4)}});
}

// A row for each operator, all timed in turns.
absl::Status MeasureVariants(Bench& bench, const conv::Problem& problem) {
  const std::string layer = LayerName(problem, true);
  if (!bench.Wanted(layer)) return absl::OkStatus();
  std::vector<Variant> variants;
  for (const auto& list : {ActivationVariants(), LayoutVariants(), ZeroPointVariants(),
                           OutputVariants(), SourceVariants(), TypeVariants()}) {
    variants.insert(variants.end(), list.begin(), list.end());
  }
  // Pointers to contestants must last.
  std::vector<std::unique_ptr<Candidate>> candidates;
  // ReLU over each list of tiles, by what makes its runs; the first over all of wgmma_sm90.
  std::map<decltype(Variant::relu), Candidate> relus;
  const auto all_tiles = &RunsOf<variants::Relu>;
  int sets = 0;
  const auto measure = [&]() -> absl::Status {
    WEFT_LET(const LayerData d, LayerData::Create(problem, false, bench.stream()));
    WEFT_LET(const DeviceBuffer averages, DeviceBuffer::Create(problem.n * problem.k));
    sets = d.count();
    std::vector<Contestant*> all;
    const auto make_relu = [&](decltype(Variant::relu) runs) -> absl::Status {
      const auto [found, is_new] = relus.try_emplace(runs);
      if (!is_new) return absl::OkStatus();
      Candidate& relu = found->second;
      relu.runs = runs(d, bench.stream());
      WEFT_TRY(TryTiles(bench, sets, &relu));
      return Prepare(bench, sets, relu.runs[relu.best].way, &relu.same, &all);
    };
    WEFT_TRY(make_relu(all_tiles));
    for (const Variant& v : variants) {
      if (WantedKind(v.kind)) WEFT_TRY(make_relu(v.relu));
    }
    const auto add = [&](const char* kind, const char* name, std::vector<TileRun> runs,
                         const Candidate& relu) {
      candidates.push_back(std::make_unique<Candidate>());
      Candidate* const c = candidates.back().get();
      c->kind = kind, c->name = name, c->runs = std::move(runs);
      c->relu = &relu;
      c->status = [&]() -> absl::Status {
        WEFT_TRY(TryTiles(bench, sets, c));
        if (const int same = c->IndexOf(relu.runs[relu.best].tile); same >= 0) {
          WEFT_TRY(Prepare(bench, sets, c->runs[same].way, &c->same, &all));
          c->in_same = true;
          if (same == c->best) return absl::OkStatus();
        }
        WEFT_TRY(Prepare(bench, sets, c->runs[c->best].way, &c->quickest, &all));
        c->in_quickest = true;
        return absl::OkStatus();
      }();
      if (!c->status.ok()) (void)cudaGetLastError();
    };
    for (const Variant& v : variants) {
      if (!WantedKind(v.kind)) continue;
      add(v.kind, v.name, v.runs(d, bench.stream()), relus.at(v.relu));
    }
    if (!WantedKind("output")) return bench.watch().Interleave(all, 15, 4e6);
    std::vector<TileRun> pooling = RunsOf<variants::SumsAlone>(d, bench.stream());
    WEFT_TRY(AddAverage(d, averages, bench.stream(), &pooling));
    add("output", "global average pooling, two kernels", std::move(pooling), relus.at(all_tiles));
    return bench.watch().Interleave(all, 15, 4e6);
  };
  if (const absl::Status status = measure(); !status.ok()) {
    return bench.AddRow(layer, [&](Json*) { return status; });
  }
  const Candidate& baseline = relus.at(all_tiles);
  for (const auto& c : candidates) {
    WEFT_TRY(bench.AddRow(layer, [&](Json* row) -> absl::Status {
      row->update({{"batch", problem.n},
                   {"kind", c->kind},
                   {"variant", c->name},
                   {"kernel", c->relu->runs[c->relu->best].way.name},
                   {"buffer_sets", sets}});
      WEFT_TRY(c->status);
      Describe(*c, baseline, row);
      (*row)["mismatches"] = c->mismatches + c->relu->mismatches;
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

// Filters of int8 and int4 through the tiles of mma_sm80, those of int4 also through wgmma_sm90, and the
// quickest of all for int8.
absl::Status MeasureInt4(Bench& bench, const conv::Problem& problem, Json* row) {
  WEFT_LET(const LayerData d, LayerData::Create(problem, true, bench.stream()));
  Candidate int8, int4, all_int8;
  int8.runs = RunsOf<Int8Filters, Int4Tiles>(d, bench.stream());
  int4.runs = RunsOf<Int4Filters, Int4Tiles>(d, bench.stream());
  for (TileRun& run : RunsOf<Int4Filters, Int4WgmmaTiles>(d, bench.stream())) {
    int4.runs.push_back(std::move(run));
  }
  all_int8.runs = RunsOf<Int8Filters, FewPixelTiles>(d, bench.stream());
  std::vector<Contestant*> all;
  int mismatches = 0;
  row->update({{"batch", problem.n}, {"kind", "filter"}, {"variant", "filters of int4"}});
  for (Candidate* c : {&int8, &int4, &all_int8}) {
    WEFT_TRY(TryTiles(bench, d.count(), c));
    mismatches += c->mismatches;
    WEFT_TRY(Prepare(bench, d.count(), c->runs[c->best].way, &c->same, &all));
  }
  WEFT_TRY(bench.watch().Interleave(all, 15, 2e6));
  const auto us = [](const Candidate& c) { return Quantile(c.same.samples, 0.5); };
  const Candidate& best = us(all_int8) < us(int8) ? all_int8 : int8;
  const double copy = bench.machine().ceilings(true).bytes_per_us;
  const auto floor = [&](std::int64_t filter_bytes) {
    return Rounded(
        (filter_bytes + NCxHWx<32>::Size(problem.src()) + NCxHWx<32>::Size(problem.dst())) / copy);
  };
  row->update({{"kernel", int4.runs[int4.best].way.name},
               {"int4_us", Rounded(us(int4))},
               {"int4_filter_kb", Rounded(d.int4_packed->bytes() / 1024.0, 1)},
               {"int4_floor_us", floor(d.int4_packed->bytes())},
               {"int8_kernel", int8.runs[int8.best].way.name},
               {"int8_us", Rounded(us(int8))},
               {"int8_filter_kb", Rounded(d.packed.bytes() / 1024.0, 1)},
               {"int8_floor_us", floor(d.packed.bytes())},
               {"int8_over_int4", Rounded(us(int8) / us(int4), 4)},
               {"best_int8_kernel", best.runs[best.best].way.name},
               {"best_int8_us", Rounded(us(best))},
               {"best_int8_over_int4", Rounded(us(best) / us(int4), 4)},
               {"noise", Rounded(HalvesDiffer(int4.same.samples), 4)},
               {"buffer_sets", d.count()},
               {"mismatches", mismatches}});
  return bench.ReadClock(int4.same, row);
}

absl::Status MeasureAll(Bench& bench) {
  const std::vector<std::string> kinds = absl::GetFlag(FLAGS_kinds);
  const bool variants =
      kinds.empty() || std::any_of(kinds.begin(), kinds.end(), [](const auto& kind) {
        return kind != "filter" && kind != "depthwise";
      });
  for (const char* name :
       {"c64h56w56k64r3s1", "c128h28w28k128r3s1", "c256h14w14k256r3s1", "c512h7w7k512r3s1"}) {
    for (const int images : {16, 64}) {
      if (!variants) break;
      WEFT_LET(Layer layer, ParseLayer(name));
      layer.problem.n = images;
      WEFT_TRY(MeasureVariants(bench, layer.problem));
    }
  }
  // Of MobileNet-V2.
  for (const char* name :
       {"n64c192h28w28k192r3s1g192", "n64c384h14w14k384r3s1g384", "n64c960h7w7k960r3s1g960"}) {
    if (!WantedKind("depthwise")) break;
    WEFT_LET(const Layer layer, ParseLayer(name));
    WEFT_TRY(MeasureDepthwiseZeros(bench, layer.problem));
  }
  // Of ResNet-50, and fully connected ones of ResNet-50 and VGG-16.
  for (const char* name :
       {"n1c512h7w7k512r3s1", "n1c512h7w7k2048r1s1", "n1c2048h7w7k512r1s1", "n1c512h14w14k512r3s2",
        "n1c2048h1w1k1024r1s1", "n1c4096h1w1k4096r1s1", "n1c512h7w7k4096r7s1p0"}) {
    if (!WantedKind("filter")) break;
    WEFT_LET(const Layer layer, ParseLayer(name));
    WEFT_TRY(bench.Row(LayerName(layer.problem, true),
                       [&](Json* row) { return MeasureInt4(bench, layer.problem, row); }));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA

int main(int argc, char** argv) {
  constexpr weft::perf::BenchProgram kProgram = {
      "epilogue_bench", "what an epilogue costs",
      "random data; source, filter and destination rotated past the L2; CUDA graphs, dependent "
      "launches; medians of interleaved samples; ours_us: over the tile that is quickest with "
      "ReLU of those that the operator is measured over; best_us: over the operator's own quickest "
      "tile; relu_us: "
      "the quickest with ReLU of them; best_over_relu: over the quickest with ReLU of wgmma_sm90"};
#if WEFT_HAVE_CUDA
  return weft::perf::BenchMain(argc, argv, kProgram, weft::perf::MeasureAll);
#else
  return weft::perf::BenchMain(argc, argv, kProgram, nullptr);
#endif
}
