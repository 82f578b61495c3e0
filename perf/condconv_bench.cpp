// condconv_bench [--json=FILE] [--layers=PART] [--commit=HASH]: CondConv with 8 experts at N = 16 and
// 64 on five layers of ResNet-50, against the plain convolution of the layer through the same tiles,
// and against cuBLASLt's matrix product and one convolution of cuDNN's for each image, in one CUDA
// graph.
//
// Ours also in several passes over the images, whose filters then stay in the L2. Mixed filters and
// outputs of each are compared: a sample with what is computed here, passes and tiles with each
// other.
#include "perf/peers/bench.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/condconv_bench/data.hpp"
#include "perf/condconv_bench/peer.hpp"
#include "perf/condconv_bench/policies.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/layers.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/condconv.hpp"

namespace weft::perf {
namespace {

constexpr std::int64_t kExperts = CondData::kExperts;
constexpr double kSampleMicroseconds = 2000.0;

// The fastest of what is made of the tiles: CondConv in one and in several passes, the convolution
// behind it alone, and the plain one.
struct Ours {
  std::optional<Way> mixed, passes, alone, plain;
};

template <class Op>
typename Op::Arguments ArgumentsOf(const CondData& d) {
  typename Op::Arguments args;
  args.src = d.gpu_src.as<std::int8_t>();
  args.bias = d.gpu_bias.as<float>();
  args.dst = d.dst.as<std::int8_t>();
  args.alpha = d.alpha;
  return args;
}

template <class Tile>
absl::Status TryMixed(const Bench& bench, const CondData& d, std::int64_t passes, bool* checked,
                      Ours* ours) {
  using Op = conv::CondConv<Mixed<Tile>>;
  conv::Problem part = d.problem;
  part.n /= passes;
  const absl::StatusOr<Op> op = Op::Create(part, kExperts);
  if (!op.ok()) return absl::OkStatus();  // the tile does not take the problem
  if (!gemm::HasGpuCode<Mixed<Tile>>()) return absl::OkStatus();
  auto args = ArgumentsOf<Op>(d);
  args.experts = d.experts.At(d.gpu_experts.data());
  args.routing = d.gpu_routing.as<float>();
  args.expert_scale = d.gpu_scale.as<float>();
  args.workspace = d.workspace.data();
  args.workspace_bytes = op->workspace_size();
  args.experts_are_constant = true;
  Way way;
  way.name = conv::PolicyName(Mixed<Tile>::config);
  if (passes > 1) absl::StrAppend(&way.name, " in ", passes, " passes");
  way.enqueue = [op = *op, args, passes, stream = bench.stream()](int) {
    auto next = args;
    for (std::int64_t i = 0; i < passes; ++i) {
      next.src = args.src + i * op.src_size();
      next.dst = args.dst + i * op.dst_size();
      next.routing = args.routing + i * op.problem().n * kExperts;
      WEFT_TRY(op.Run(next, stream));
    }
    return absl::OkStatus();
  };
  WEFT_TRY(d.dst.Fill(0x77));
  WEFT_TRY(way.enqueue(0));
  if (!*checked) {
    *checked = true;
    WEFT_TRY(d.Check());
    WEFT_TRY(CudaStatus(cudaMemcpy(d.want.data(), d.dst.data(), d.dst.bytes(), cudaMemcpyDefault),
                        "copy"));
  }
  WEFT_LET(const Differences found, Compare(d.dst.as<std::int8_t>(), d.want.as<std::int8_t>(),
                                            d.dst.bytes(), bench.stream()));
  if (found.count > 0) {
    return absl::DataLossError(absl::StrCat(way.name, " differs at ", found.count, " outputs"));
  }
  return bench.KeepFaster(1, std::move(way), passes > 1 ? &ours->passes : &ours->mixed);
}

// The convolution P alone. filter: its argument.
template <class P, class Filter>
absl::Status TryConvolution(const Bench& bench, const CondData& d, const Filter& filter,
                            std::optional<Way>* best) {
  using Op = conv::Convolution<P>;
  const absl::StatusOr<Op> op = Op::Create(d.problem);
  if (!op.ok() || !gemm::HasGpuCode<P>()) return absl::OkStatus();
  auto args = ArgumentsOf<Op>(d);
  args.filter = filter;
  Way way = {conv::PolicyName(P::config),
             [op = *op, args, stream = bench.stream()](int) { return op.Run(args, stream); }};
  return bench.KeepFaster(1, std::move(way), best);
}

template <class Tile>
absl::Status TryTile(const Bench& bench, const CondData& d, bool* checked, Ours* ours) {
  for (const std::int64_t passes : {1, 2, 4, 8}) {
    if (d.problem.n / passes >= 8) {
      WEFT_TRY(TryMixed<Tile>(bench, d, passes, checked, ours));
    }
  }
  const auto op = conv::CondConv<Mixed<Tile>>::Create(d.problem, kExperts);
  if (op.ok()) {
    WEFT_TRY(TryConvolution<Mixed<Tile>>(bench, d, op->Mixed(d.workspace.data()), &ours->alone));
  }
  return TryConvolution<Plain<Tile>>(bench, d, d.plain.At(d.gpu_plain.data()), &ours->plain);
}

#if WEFT_HAVE_CUDNN && WEFT_HAVE_CUBLASLT
using Peers = std::unique_ptr<Libraries>;

absl::StatusOr<Peers> MakePeers(const Stopwatch& watch, const CondData& d) {
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const std::int64_t k = d.problem.k;
  WEFT_LET(Peers peers, Libraries::Create({.problem = d.problem,
                                           .experts = kExperts,
                                           .src = &d.src,
                                           .bank = &d.bank,
                                           .routing = &d.routing,
                                           .mixed_scale = CondData::kMixedScale,
                                           .channel_alpha = std::vector<float>(k, d.alpha),
                                           .bias = std::vector<float>(k, CondData::kBias)},
                                          watch, threads));
  for (const int branches : {1, Libraries::kBranches}) {
    WEFT_TRY(peers->dst().Fill(0x77));
    WEFT_TRY(peers->Enqueue(branches, watch.stream()));
    WEFT_TRY(d.CheckChannelsLast(peers->mixed(), peers->dst()));
  }
  return peers;
}
#endif

absl::Status Measure(Bench& bench, const conv::Problem& problem, Json* row) {
  WEFT_LET(const CondData d, CondData::Create(problem));
  Ours ours;
  bool checked = false;
  WEFT_TRY((ForEachTile<CondTiles>(
      [&]<class Tile>() { return TryTile<Tile>(bench, d, &checked, &ours); })));
  if (!ours.mixed.has_value()) return absl::UnimplementedError("no tile takes the problem");
  struct Line {
    const char* what;
    Way way;
    Contestant contestant = {};
  };
  std::vector<Line> lines;
  lines.push_back({"ours", *ours.mixed});
  if (ours.passes.has_value()) lines.push_back({"passes", *ours.passes});
  if (ours.alone.has_value()) lines.push_back({"convolution", *ours.alone});
  if (ours.plain.has_value()) lines.push_back({"plain", *ours.plain});
#if WEFT_HAVE_CUDNN && WEFT_HAVE_CUBLASLT
  const absl::StatusOr<Peers> peers = MakePeers(bench.watch(), d);
  if (!peers.ok()) (*row)["note"] = std::string(peers.status().message());
  for (const int branches : {1, Libraries::kBranches}) {
    if (!peers.ok()) break;
    const Libraries* const libraries = peers->get();
    lines.push_back({branches == 1 ? "libraries" : "libraries_branched",
                     {libraries->name(), [=, stream = bench.stream()](int) {
                        return libraries->Enqueue(branches, stream);
                      }}});
  }
#endif
  std::vector<Contestant*> contestants;
  for (Line& line : lines) {
    line.contestant.enqueue = line.way.enqueue;
    WEFT_TRY(bench.watch().Prepare(line.contestant, 1, kSampleMicroseconds));
    contestants.push_back(&line.contestant);
  }
  WEFT_TRY(bench.watch().Interleave(contestants, 15, 1e6));
  row->update({{"experts", kExperts},
               {"mixed_mbytes", Rounded(1e-6 * double(d.workspace.bytes()))},
               {"kernel", ours.mixed->name}});
  for (const Line& line : lines) {
    (*row)[absl::StrCat(line.what, "_us")] = Rounded(Quantile(line.contestant.samples, 0.5));
    (*row)[absl::StrCat(line.what, "_kernel")] = line.way.name;
    (*row)[absl::StrCat(line.what, "_in_a_graph")] = line.contestant.graphed;
  }
  (*row)["mismatches"] = 0;
  return bench.ReadClock(lines[0].contestant, row);
}

absl::Status MeasureAll(Bench& bench) {
  for (const char* name : {"c64h56w56k64r3s1", "c128h28w28k128r3s1", "c256h14w14k256r3s1",
                           "c512h7w7k512r3s1", "c256h14w14k1024r1s1"}) {
    for (const int images : {16, 64}) {
      WEFT_LET(Layer layer, ParseLayer(name));
      layer.problem.n = images;
      WEFT_TRY(bench.Row(LayerName(layer.problem, true),
                         [&](Json* row) { return Measure(bench, layer.problem, row); }));
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA

int main(int argc, char** argv) {
  constexpr weft::perf::BenchProgram kProgram = {
      "condconv_bench", "CondConv against the plain convolution and against libraries",
      "random data; one set of buffers; CUDA graphs, ours of dependent launches; medians of "
      "interleaved samples; ours: mixing "
      "and convolution; convolution: the second alone; plain: one filter for all images; "
      "libraries: "
      "a product of cuBLASLt and a convolution of cuDNN for each image"};
#if WEFT_HAVE_CUDA
  return weft::perf::BenchMain(argc, argv, kProgram, weft::perf::MeasureAll);
#else
  return weft::perf::BenchMain(argc, argv, kProgram, nullptr);
#endif
}
