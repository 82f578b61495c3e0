// deconv_bench: Deconvolution over NCxHWx<32>, int8 with bias and ReLU, through tiles of wgmma_sm90, against cuDNN's
// gradient of a convolution by its source (half, NHWC, neither bias nor ReLU), and with zero points of the source and of
// both against the same tile without. Layers of generators and of U-Net, and gradients of ResNet-50's 3x3 convolutions of
// stride 2; N = 16 and 64. A few hundred outputs of each are compared with sums computed here, ours exactly.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/bench/operator_ways.hpp"
#include "perf/deconv_bench/peer.hpp"
#include "perf/deconv_bench/policies.hpp"
#include "weft/conv/deconvolution.hpp"

namespace weft::perf {
namespace {

using conv::DeconvolutionProblem;

DeconvolutionProblem Doubled(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k,
                             std::int64_t rs) {
  DeconvolutionProblem p;
  p.n = n, p.c = c, p.h = p.w = hw, p.k = k, p.r = p.s = rs;
  p.stride_h = p.stride_w = 2;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = (rs - 1) / 2;
  p.output_pad_h = p.output_pad_w = rs % 2;
  return p;
}

// The sum of products behind an output of a problem that Doubled made; filter: [c][k][r][s].
struct DeconvolutionSum {
  DeconvolutionProblem problem;
  std::vector<std::int8_t> filter;

  template <class Source>
  std::int64_t operator()(const Source* src, std::int64_t n, std::int64_t k, std::int64_t y,
                          std::int64_t x, std::int32_t source_zero = 0,
                          std::int32_t filter_zero = 0) const {
    const DeconvolutionProblem& d = problem;
    std::int64_t sum = 0;
    for (std::int64_t r = 0; r < d.r; ++r) {
      for (std::int64_t s = 0; s < d.s; ++s) {
        const std::int64_t h = y + d.pad_top - r, w = x + d.pad_left - s;
        if (h < 0 || h % 2 != 0 || h / 2 >= d.h || w < 0 || w % 2 != 0 || w / 2 >= d.w) continue;
        for (std::int64_t c = 0; c < d.c; ++c) {
          sum += (src[NCHW::Offset(d.src(), n, c, h / 2, w / 2)] - source_zero) *
                 (filter[((c * d.k + k) * d.r + r) * d.s + s] - filter_zero);
        }
      }
    }
    return sum;
  }

  // Of one channel, with a filter of ones.
  DeconvolutionSum Window() const {
    DeconvolutionSum ones{problem, std::vector<std::int8_t>(problem.r * problem.s, 1)};
    ones.problem.c = ones.problem.k = 1;
    return ones;
  }
};

// cuDNN's answer to the problem; DataLoss if it is wrong, with the number of outputs in the row.
absl::StatusOr<std::unique_ptr<CudnnGradient>> MakePeer(const Bench& bench, const OperatorData& d,
                                                        const DeconvolutionSum& sum, Json* row) {
  WEFT_LET(std::unique_ptr<CudnnGradient> peer,
           CudnnGradient::Create(sum.problem, d.src, sum.filter, d.count(), bench.watch()));
  (*row)["peer"] = peer->name();
  WEFT_TRY(peer->dst().Fill(0xff));
  WEFT_TRY(peer->Enqueue(0, bench.stream()));
  WEFT_LET(const std::vector<Half> dst, peer->dst().Read<Half>());
  const std::int64_t wrong = CountInSample(d.dst_extents, 400, [&](auto n, auto k, auto y, auto x) {
    const float want = static_cast<float>(sum(d.src.data(), n, k, y, x)) / 4096.0f;
    const float got = dst[NHWC::Offset(d.dst_extents, n, k, y, x)].ToFloat();
    return !(std::abs(got - want) <= 0.01f * (1.0f + std::abs(want)));
  });
  (*row)["peer_mismatches"] = wrong;
  if (wrong > 0) return absl::DataLossError(absl::StrCat(wrong, " of cuDNN's outputs are wrong"));
  return peer;
}

absl::Status Measure(Bench& bench, const DeconvolutionProblem& p, Json* row) {
  std::vector<std::int8_t> filter = RandomInt8s(p.c * p.k * p.r * p.s, 2);
  WEFT_LET(auto packed, conv::PackDeconvolutionFilter<CxRSKx<32>>(p, filter));
  const float alpha = 1.0f / (60.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s)));
  WEFT_LET(OperatorData d,
           OperatorData::Create(
               {.src = p.src(), .dst = p.dst(), .filter_bytes = packed.bytes(), .alpha = alpha},
               bench.stream()));
  Filters<DeconvolutionSum, decltype(packed), conv::DeconvolutionCorrectionBuffer> filters{
      {p, std::move(filter)}, std::move(packed)};
  WEFT_TRY(filters.ToGpu(d.count()));
  WEFT_TRY(filters.AddCorrections());
  WEFT_LET(d.window_sums, DeviceBuffer::From(WindowSums(filters.sum, d)));
  Race race(bench.watch(), d.count());
  const auto ways = [&]<class Family>(Family) {
    return WaysOf<conv::Deconvolution, Family>(d, filters, bench.stream());
  };
  WEFT_TRY(race.AddFastest("ours", ways(PoliciesOf<deconv::Relu, deconv::Tiles>())));
  (*row)["kernel"] = race.name("ours");
  // With zero points over the quicker of two tiles, and without over the same.
  const std::vector<Way> without = ways(PoliciesOf<deconv::Relu, deconv::ZeroTiles>());
  const auto add_zeros = [&](const std::string& what, std::vector<Way> with) -> absl::Status {
    if (with.empty()) return absl::OkStatus();
    WEFT_LET(const int best, Fastest(bench.watch(), d.count(), &with));
    for (const Way& same : without) {
      if (same.tile != with[best].tile) continue;
      WEFT_TRY(race.Add(what, with[best]));
      WEFT_TRY(race.Add("without " + what, same));
    }
    return absl::OkStatus();
  };
  WEFT_TRY(add_zeros("source_zero", ways(PoliciesOf<deconv::SourceZero, deconv::ZeroTiles>())));
  WEFT_TRY(add_zeros("both_zeros", ways(PoliciesOf<deconv::BothZeros, deconv::ZeroTiles>())));
  const auto peer = MakePeer(bench, d, filters.sum, row);
  if (peer.ok()) {
    WEFT_TRY(race.Add(
        "peer", {(*peer)->name(), [&](int set) { return (*peer)->Enqueue(set, bench.stream()); }}));
  } else {
    (*row)["note"] = std::string(peer.status().message());
  }
  WEFT_TRY(race.Run());
  const double us = race.us("ours");
  row->update({{"ours_us", Rounded(us)},
               {"ours_tops", Rounded(2e-6 * p.macs() / us)},
               {"buffer_sets", d.count()},
               {"mismatches", 0}});
  for (const std::string what : {"source_zero", "both_zeros"}) {
    if (!race.Has(what)) continue;
    race.Describe(what, row);
    (*row)[what + "_kernel"] = race.name(what);
    (*row)["over_" + what] = Rounded(race.us(what) / race.us("without " + what), 4);
  }
  if (race.Has("peer")) {
    race.Describe("peer", row);
    (*row)["ratio"] = Rounded(race.us("peer") / us);
  }
  return bench.ReadClock(race.contestant("ours"), row);
}

absl::Status MeasureAll(Bench& bench) {
  for (const std::int64_t n : {16, 64}) {
    for (const DeconvolutionProblem& p :
         {Doubled(n, 128, 28, 128, 3), Doubled(n, 256, 14, 256, 3), Doubled(n, 512, 7, 512, 3),
          Doubled(n, 512, 8, 256, 4), Doubled(n, 256, 16, 128, 4), Doubled(n, 256, 32, 128, 2)}) {
      const std::string name =
          absl::StrCat("n", p.n, "c", p.c, "h", p.h, "w", p.w, "k", p.k, "r", p.r, "s", p.stride_h);
      bench.AddRow(name, [&bench, p](Json* row) { return Measure(bench, p, row); });
    }
  }
  return bench.Run();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"deconv_bench", "Deconvolution against cuDNN's gradient of a convolution",
       "random data; source, filter and destination rotated past the L2; CUDA graphs, dependent "
       "launches; medians of interleaved samples; the peer is the fastest plan of cuDNN's graph "
       "API, in half precision, without bias and activation; over_source_zero, over_both_zeros: "
       "the time with zero points over that of the same tile without"},
      weft::perf::MeasureAll);
}
