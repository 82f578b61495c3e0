// condconv_bench: CondConv with 8 experts at N = 16 and 64 on five layers of ResNet-50, against the plain convolution of
// the layer through the same tiles, and against cuBLASLt's matrix product and one convolution of cuDNN's for each image, in
// one CUDA graph.
//
// Ours also in several passes over the images, whose filters then stay in the L2. Mixed filters and outputs of each way are
// compared: a sample with what is computed here.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/bench/operator_ways.hpp"
#include "perf/condconv_bench/peer.hpp"
#include "perf/condconv_bench/policies.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/layers.hpp"
#include "weft/conv/condconv.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr std::int64_t kExperts = 8;
constexpr float kMixedScale = 0.4f;  // expert_scale of each expert and channel

// A layer with experts.
struct Data {
  conv::Problem problem;
  OperatorData tensors;
  std::vector<std::int8_t> bank;     // [E][K][C][R][S]
  std::vector<std::int8_t> routing;  // [N][E], 0 to 127: in steps of 1 / 127, as libraries have it
  std::vector<float> weights;        // the same as numbers
  PackedFilterBuffer<CxRSKx<32>, std::int8_t, prologues::Experts> experts;
  DeviceBuffer gpu_experts, gpu_routing, gpu_scale, workspace;

  // Of a sample of the outputs in `dst`, those that differ by more than `allowed` from what the filters in `mixed` make
  // of the source; and of the elements of these filters, those that differ by more from what they should be.
  template <class FilterLayout, class DstLayout>
  absl::StatusOr<std::int64_t> Wrong(const DeviceBuffer& mixed, const DeviceBuffer& dst,
                                     int allowed) const {
    WEFT_LET(const std::vector<std::int8_t> filters, mixed.Read<std::int8_t>());
    WEFT_LET(const std::vector<std::int8_t> outputs, dst.Read<std::int8_t>());
    const conv::Problem& p = problem;
    const FilterExtents e = p.filter();
    const std::int64_t taps = p.c * p.r * p.s;
    const auto off = [&](int got, float want) {
      const float limited = std::nearbyint(std::min(127.0f, std::max(-128.0f, want)));
      return std::abs(got - static_cast<int>(limited)) > allowed;
    };
    std::int64_t wrong = 0;
    wrong += CountInSample(p.dst(), 200, [&](auto n, auto k, auto y, auto x) {
      std::vector<std::int8_t> filter;  // [C][R][S], of this image and channel
      for (std::int64_t i = 0; i < taps; ++i) {
        float mix = 0.0f;
        for (std::int64_t expert = 0; expert < kExperts; ++expert) {
          const float value = kMixedScale * static_cast<float>(bank[(expert * p.k + k) * taps + i]);
          mix = std::fmaf(weights[n * kExperts + expert], value, mix);
        }
        filter.push_back(
            filters[n * FilterLayout::Size(e) +
                    FilterLayout::Offset(e, k, i / (p.r * p.s), i / p.s % p.r, i % p.s)]);
        wrong += off(filter.back(), mix);
      }
      conv::Problem one = p;
      one.k = 1;
      const std::int64_t sum =
          reference::Accumulate(one, tensors.src.data(), filter.data(), n, 0, y, x);
      const float value = std::fmaf(tensors.alpha, static_cast<float>(sum), 0.0f);
      return off(outputs[DstLayout::Offset(p.dst(), n, k, y, x)],
                 std::max(0.0f, value + OperatorData::kBias));
    });
    return wrong;
  }
};

// The filters that CondConv mixed, as they lie in its workspace, for the convolution behind it alone.
struct MixedFilters {
  ConvolutionSum sum;
  PackedFilter<CxRSKx<32>, std::int8_t, prologues::PerSample> mixed;
  static constexpr bool is_constant = false;
  auto At(int) const { return mixed; }
};

// CondConv over every tile, in so many passes over the images.
std::vector<Way> MixedWays(const Bench& bench, const Data& d, std::int64_t passes) {
  std::vector<Way> ways;
  ForEachPolicy(condconv::MixedTiles(), [&]<class P>(int tile) {
    using Op = conv::CondConv<P>;
    conv::Problem part = d.problem;
    part.n /= passes;
    const absl::StatusOr<Op> op = Op::Create(part, kExperts);
    if (!op.ok() || !gemm::HasGpuCode<P>()) return;  // the tile does not take the problem
    typename Op::Arguments args;
    args.src = d.tensors.sets[0].src.template as<std::int8_t>();
    args.experts = d.experts.At(d.gpu_experts.data());
    args.routing = d.gpu_routing.template as<float>();
    args.expert_scale = d.gpu_scale.template as<float>();
    args.workspace = d.workspace.data();
    args.workspace_bytes = op->workspace_size();
    args.bias = d.tensors.bias.template as<float>();
    args.dst = d.tensors.sets[0].dst.template as<std::int8_t>();
    args.alpha = d.tensors.alpha;
    args.experts_are_constant = true;
    const auto enqueue = [op = *op, args, passes, stream = bench.stream()](int) {
      auto next = args;
      for (std::int64_t i = 0; i < passes; ++i) {
        next.src = args.src + i * op.src_size();
        next.dst = args.dst + i * op.dst_size();
        next.routing = args.routing + i * op.problem().n * kExperts;
        WEFT_TRY(op.Run(next, stream));
      }
      return absl::OkStatus();
    };
    // Of passes the workspace has the last images' filters alone, so that outputs are compared with those of one pass.
    const auto wrong = [&d, enqueue, passes, &bench]() -> absl::StatusOr<std::int64_t> {
      const DeviceBuffer& dst = d.tensors.sets[0].dst;
      WEFT_TRY(dst.Fill(0x77));
      WEFT_TRY(enqueue(0));
      if (passes == 1) return d.Wrong<CxRSKx<32>, NCxHWx<32>>(d.workspace, dst, 0);
      WEFT_LET(const Differences found,
               Compare(dst.as<std::int8_t>(), d.tensors.sets[1].dst.as<std::int8_t>(), dst.bytes(),
                       bench.stream()));
      return found.count;
    };
    std::string name = conv::PolicyName(P::config);
    if (passes > 1) absl::StrAppend(&name, " in ", passes, " passes");
    ways.push_back({std::move(name), enqueue, wrong, tile});
  });
  return ways;
}

absl::StatusOr<Data> MakeData(const conv::Problem& p, Stream stream) {
  const FilterExtents e = p.filter();
  std::vector<std::int8_t> bank = RandomInt8s(kExperts * KCRS::Size(e), 2);
  WEFT_LET(auto experts, (PackFilters<prologues::Experts, CxRSKx<32>>(e, kExperts, bank)));
  const float alpha = 1.0f / (120.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s)));
  WEFT_LET(OperatorData tensors,
           OperatorData::Create({.src = p.src(), .dst = p.dst(), .alpha = alpha}, stream));
  std::vector<std::int8_t> routing = RandomInt8s(p.n * kExperts, 3);
  for (std::int8_t& weight : routing) weight &= 127;
  std::vector<float> weights;
  for (const std::int8_t weight : routing) weights.push_back(static_cast<float>(weight) / 127.0f);
  Data d{p,
         std::move(tensors),
         std::move(bank),
         std::move(routing),
         std::move(weights),
         std::move(experts),
         {},
         {},
         {},
         {}};
  WEFT_LET(d.gpu_experts, DeviceBuffer::FromBytes(d.experts.data(), d.experts.bytes()));
  WEFT_LET(d.gpu_routing, DeviceBuffer::From(d.weights));
  WEFT_LET(d.gpu_scale, DeviceBuffer::From(std::vector<float>(kExperts * p.k, kMixedScale)));
  WEFT_LET(d.workspace, DeviceBuffer::Create(p.n * CxRSKx<32>::Size(e)));
  return d;
}

absl::StatusOr<std::unique_ptr<Libraries>> MakeLibraries(const Bench& bench, const Data& d) {
  WEFT_LET(std::unique_ptr<Libraries> libraries, Libraries::Create({.problem = d.problem,
                                                                    .experts = kExperts,
                                                                    .src = d.tensors.src,
                                                                    .bank = d.bank,
                                                                    .routing = d.routing,
                                                                    .mixed_scale = kMixedScale,
                                                                    .alpha = d.tensors.alpha,
                                                                    .bias = OperatorData::kBias},
                                                                   bench.watch()));
  for (const bool branched : {false, true}) {
    WEFT_TRY(libraries->dst().Fill(0x77));
    WEFT_TRY(libraries->Enqueue(branched, bench.stream()));
    WEFT_LET(const std::int64_t wrong,
             (d.Wrong<KRSC, NHWC>(libraries->mixed(), libraries->dst(), 1)));
    if (wrong > 0) return absl::DataLossError(absl::StrCat(wrong, " wrong values in a sample"));
  }
  return libraries;
}

absl::Status Measure(Bench& bench, const conv::Problem& p, Json* row) {
  WEFT_LET(const Data d, MakeData(p, bench.stream()));
  Race race(bench.watch(), 1);
  std::vector<Way> one_pass = MixedWays(bench, d, 1);
  WEFT_LET(const int best, Fastest(bench.watch(), 1, &one_pass));
  WEFT_TRY(race.Add("ours", one_pass[best]));
  // What passes are compared with; and filters for the convolution alone.
  WEFT_TRY(one_pass[best].enqueue(0));
  const DeviceBuffer& right = d.tensors.sets[1].dst;
  WEFT_TRY(CudaStatus(cudaMemcpyAsync(right.data(), d.tensors.sets[0].dst.data(), right.bytes(),
                                      cudaMemcpyDefault, bench.stream()),
                      "copy"));
  std::vector<Way> passes;
  for (const std::int64_t count : {2, 4, 8}) {
    if (p.n / count < 8) continue;
    for (Way& way : MixedWays(bench, d, count)) passes.push_back(std::move(way));
  }
  if (!passes.empty()) WEFT_TRY(race.AddFastest("passes", std::move(passes)));

  std::vector<std::int8_t> values(d.bank.begin(), d.bank.begin() + KCRS::Size(p.filter()));
  WEFT_LET(auto packed, PackFilter<CxRSKx<32>>(p.filter(), values));
  Filters plain{ConvolutionSum{p, std::move(values)}, std::move(packed)};
  WEFT_TRY(plain.ToGpu(1));
  plain.is_constant = false;  // as CondConv's own second kernel has it
  using Any = conv::CondConv<condconv::Mixed<conv::Wgmma64x64>>;
  WEFT_LET(const Any any, Any::Create(p, kExperts));
  const MixedFilters mixed{plain.sum, any.Mixed(d.workspace.data())};
  auto alone = WaysOf<conv::Convolution, condconv::MixedTiles>(d.tensors, mixed, bench.stream());
  for (Way& way : alone) way.wrong = nullptr;  // checked with CondConv
  WEFT_TRY(race.AddFastest("convolution", std::move(alone)));
  WEFT_TRY(race.AddFastest(
      "plain", WaysOf<conv::Convolution, condconv::PlainTiles>(d.tensors, plain, bench.stream())));
  const auto libraries = MakeLibraries(bench, d);
  if (!libraries.ok()) (*row)["note"] = std::string(libraries.status().message());
  for (const bool branched : {false, true}) {
    if (!libraries.ok()) break;
    WEFT_TRY(race.Add(branched ? "libraries_branched" : "libraries",
                      {(*libraries)->name(), [&, branched](int) {
                         return (*libraries)->Enqueue(branched, bench.stream());
                       }}));
  }
  WEFT_TRY(race.Run());
  row->update({{"experts", kExperts},
               {"mixed_mbytes", Rounded(1e-6 * double(d.workspace.bytes()))},
               {"kernel", race.name("ours")}});
  for (const std::string what :
       {"ours", "passes", "convolution", "plain", "libraries", "libraries_branched"}) {
    if (!race.Has(what)) continue;
    race.Describe(what, row);
    (*row)[what + "_kernel"] = race.name(what);
    (*row)[what + "_in_a_graph"] = race.contestant(what).graphed;
  }
  (*row)["mismatches"] = 0;
  return bench.ReadClock(race.contestant("ours"), row);
}

absl::Status MeasureAll(Bench& bench) {
  for (const char* name : {"c64h56w56k64r3s1", "c128h28w28k128r3s1", "c256h14w14k256r3s1",
                           "c512h7w7k512r3s1", "c256h14w14k1024r1s1"}) {
    for (const int images : {16, 64}) {
      WEFT_LET(Layer layer, ParseLayer(name));
      layer.problem.n = images;
      bench.AddRow(LayerName(layer.problem, true),
                   [&bench, p = layer.problem](Json* row) { return Measure(bench, p, row); });
    }
  }
  return bench.Run();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"condconv_bench", "CondConv against the plain convolution and against libraries",
       "random data; one set of buffers; CUDA graphs, ours of dependent launches; medians of "
       "interleaved samples; ours: mixing and convolution; convolution: the second alone; plain: "
       "one filter for all images; libraries: a product of cuBLASLt and a convolution of cuDNN for "
       "each image"},
      weft::perf::MeasureAll);
}
