// deconv_bench [--json=FILE] [--layers=PART] [--commit=HASH]: Deconvolution over NCxHWx<32>, int8
// with bias and ReLU, through the tiles of wgmma_sm90 that perf/operators.cmake compiles, against
// cuDNN's gradient of a convolution by its source (half, NHWC, neither bias nor ReLU), and with zero points of
// the source and of both against the same tile without. Layers of generators and of U-Net, and gradients of ResNet-50's 3x3 convolutions of stride 2; N = 16 and 64.
//
// A few hundred outputs of each are compared with sums computed here, ours exactly.
#include "perf/peers/bench.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/deconv_bench/peer.hpp"
#include "perf/deconv_bench/policies.hpp"
#include "perf/support/random.hpp"
#include "perf/support/zero_points.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/deconvolution.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::perf {
namespace {

using conv::DeconvolutionProblem;

constexpr double kSampleMicroseconds = 2000.0;
constexpr float kBias = 3.0f;

DeconvolutionProblem Doubled(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k,
                             std::int64_t rs) {
  DeconvolutionProblem p;
  p.n = n, p.c = c, p.h = p.w = hw, p.k = k, p.r = p.s = rs;
  p.stride_h = p.stride_w = 2;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = (rs - 1) / 2;
  p.output_pad_h = p.output_pad_w = rs % 2;
  return p;
}

std::string Name(const DeconvolutionProblem& p) {
  return absl::StrCat("n", p.n, "c", p.c, "h", p.h, "w", p.w, "k", p.k, "r", p.r, "s", p.stride_h);
}

// What one run reads and writes; the same in every set but for the address.
struct Set {
  DeviceBuffer src, filter, dst;
};

// A problem's data: planar on the host, packed on the GPU.
struct Data {
  DeconvolutionProblem problem;
  std::vector<std::int8_t> src, filter;
  conv::PackedDeconvolutionFilterBuffer<CxRSKx<32>> packed;
  DeviceBuffer bias;
  std::optional<conv::DeconvolutionCorrectionBuffer> correction;
  DeviceBuffer gpu_correction, filter_zero, window_sums;
  std::vector<Set> sets;
  float alpha = 1.0f;

  int count() const { return static_cast<int>(sets.size()); }

  // each(r, s, h, w) for the taps of pixel (p, q) that meet one of the source.
  template <class Each>
  void ForEachTap(std::int64_t p, std::int64_t q, const Each& each) const {
    const DeconvolutionProblem& d = problem;
    for (std::int64_t r = 0; r < d.r; ++r) {
      for (std::int64_t s = 0; s < d.s; ++s) {
        const std::int64_t h = p + d.pad_top - r, w = q + d.pad_left - s;
        if (h < 0 || h % 2 != 0 || h / 2 >= d.h || w < 0 || w % 2 != 0 || w / 2 >= d.w) continue;
        each(r, s, h / 2, w / 2);
      }
    }
  }

  // With zero points of the source and the filter.
  std::int64_t Sum(std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q,
                   std::int32_t source_zero, std::int32_t filter_zero) const {
    const DeconvolutionProblem& d = problem;
    std::int64_t sum = 0;
    ForEachTap(p, q, [&](std::int64_t r, std::int64_t s, std::int64_t h, std::int64_t w) {
      for (std::int64_t c = 0; c < d.c; ++c) {
        sum += (src[NCHW::Offset(d.src(), n, c, h, w)] - source_zero) *
               (filter[((c * d.k + k) * d.r + r) * d.s + s] - filter_zero);
      }
    });
    return sum;
  }

  // What a FilterZeroPoint reads: the sums of what the taps of each pixel meet, less its zero point.
  std::vector<std::int32_t> WindowSums() const {
    const DeconvolutionProblem& d = problem;
    const std::int64_t plane = d.h * d.w;
    std::vector<std::int32_t> pixels(d.n * plane), sums;  // pixels: over the channels
    for (std::int64_t i = 0; i < d.n * d.c * plane; ++i) {
      pixels[i / (d.c * plane) * plane + i % plane] += src[i] - kSourceZero;
    }
    for (std::int64_t i = 0; i < d.n * d.p() * d.q(); ++i) {
      const std::int64_t n = i / (d.p() * d.q());
      std::int32_t sum = 0;
      ForEachTap(i / d.q() % d.p(), i % d.q(),
                 [&](std::int64_t, std::int64_t, std::int64_t h, std::int64_t w) {
                   sum += pixels[n * plane + h * d.w + w];
                 });
      sums.push_back(sum);
    }
    return sums;
  }

  // wrong(n, k, p, q, sum) for a sample of outputs: how many are. With these zero points in the sums.
  template <class Wrong>
  int Mismatches(const Wrong& wrong, bool source_zero = false, bool filter_zero = false) const {
    std::mt19937_64 engine(3);
    const auto pick = [&](std::int64_t n) {
      return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n));
    };
    int count = 0;
    for (int i = 0; i < 400; ++i) {
      const std::int64_t n = pick(problem.n), k = pick(problem.k);
      const std::int64_t p = pick(problem.p()), q = pick(problem.q());
      count +=
          wrong(n, k, p, q,
                Sum(n, k, p, q, source_zero ? kSourceZero : 0, filter_zero ? FilterZero(k) : 0));
    }
    return count;
  }
};

absl::StatusOr<Data> MakeData(const DeconvolutionProblem& p) {
  Data d;
  d.problem = p;
  d.src = RandomInt8s(NCHW::Size(p.src()), 1);
  d.filter = RandomInt8s(p.c * p.k * p.r * p.s, 2);
  WEFT_LET(d.packed, conv::PackDeconvolutionFilter<CxRSKx<32>>(p, d.filter));
  WEFT_LET(const std::vector<std::int8_t> blocked,
           (ConvertTensor<NCHW, NCxHWx<32>, std::int8_t>(p.src(), d.src)));
  WEFT_LET(d.bias, DeviceBuffer::From(std::vector<float>(p.k, kBias)));
  const std::int64_t dst_bytes = NCxHWx<32>::Size(p.dst());
  const auto src_bytes = static_cast<std::int64_t>(blocked.size());
  for (int i = 0; i < BufferSets(src_bytes + d.packed.bytes() + dst_bytes); ++i) {
    Set set;
    WEFT_LET(set.src, DeviceBuffer::From(blocked));
    WEFT_LET(set.filter, DeviceBuffer::FromBytes(d.packed.data(), d.packed.bytes()));
    WEFT_LET(set.dst, DeviceBuffer::Create(dst_bytes));
    d.sets.push_back(std::move(set));
  }
  std::vector<std::int32_t> zeros;
  for (std::int64_t k = 0; k < p.k; ++k) zeros.push_back(FilterZero(k));
  WEFT_LET(d.filter_zero, DeviceBuffer::From(zeros));
  WEFT_LET(d.correction, conv::MakeSourceCorrection(p, d.packed, kSourceZero));
  WEFT_LET(d.gpu_correction, DeviceBuffer::FromBytes(d.correction->data(), d.correction->bytes()));
  WEFT_LET(d.window_sums, DeviceBuffer::From(d.WindowSums()));
  d.alpha = 1.0f / (60.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s)));
  return d;
}

template <class P>
absl::Status Try(const Bench& bench, const Data& d, std::optional<Way>* best) {
  using E = typename P::Epilogue;
  using Op = conv::Deconvolution<P>;
  const absl::StatusOr<Op> op = Op::Create(d.problem);
  if (!op.ok() || !gemm::HasGpuCode<P>()) return absl::OkStatus();
  Way way = {conv::PolicyName(P::config), [&d, op = *op, stream = bench.stream()](int set) {
               typename Op::Arguments args;
               args.src = d.sets[set].src.as<std::int8_t>();
               args.filter = d.packed.At(d.sets[set].filter.data());
               args.bias = d.bias.as<float>();
               args.dst = d.sets[set].dst.as<std::int8_t>();
               args.alpha = d.alpha;
               if constexpr (E::kSourceZeroPoint) {
                 args.source_correction = d.correction->At(d.gpu_correction.data());
               }
               if constexpr (E::kFilterZeroPoint) {
                 args.filter_zero_point = d.filter_zero.as<std::int32_t>();
                 args.window_sums = d.window_sums.as<std::int32_t>();
               }
               args.filter_is_constant = true;
               return op.Run(args, stream);
             }};
  WEFT_TRY(d.sets[0].dst.Fill(0x77));
  WEFT_TRY(way.enqueue(0));
  WEFT_LET(const std::vector<std::int8_t> dst, d.sets[0].dst.Read<std::int8_t>());
  const auto differs = [&](auto n, auto k, auto p, auto q, std::int64_t sum) {
    const float t = std::max(0.0f, std::fmaf(1.0f, kBias, d.alpha * static_cast<float>(sum)));
    const auto want = static_cast<std::int8_t>(std::min(127.0f, std::nearbyint(t)));
    return dst[NCxHWx<32>::Offset(d.problem.dst(), n, k, p, q)] != want;
  };
  const int wrong = d.Mismatches(differs, E::kSourceZeroPoint, E::kFilterZeroPoint);
  if (wrong > 0) return absl::DataLossError(absl::StrCat(way.name, ": ", wrong, " wrong outputs"));
  return bench.KeepFaster(d.count(), std::move(way), best);
}

#if WEFT_HAVE_CUDNN
// cuDNN's answer to the problem; DataLoss if it is wrong, with the number of outputs in the row.
absl::StatusOr<std::unique_ptr<CudnnGradient>> MakePeer(const Bench& bench, const Data& d,
                                                        Json* row) {
  WEFT_LET(std::unique_ptr<CudnnGradient> peer,
           CudnnGradient::Create(d.problem, d.src, d.filter, d.count(), bench.watch()));
  (*row)["peer"] = peer->name();
  WEFT_TRY(peer->dst().Fill(0xff));
  WEFT_TRY(peer->Enqueue(0, bench.stream()));
  WEFT_LET(const std::vector<Half> dst, peer->dst().Read<Half>());
  const int wrong = d.Mismatches([&](auto n, auto k, auto p, auto q, std::int64_t sum) {
    const float want = static_cast<float>(sum) / 4096.0f;
    const float got = dst[NHWC::Offset(d.problem.dst(), n, k, p, q)].ToFloat();
    return !(std::abs(got - want) <= 0.01f * (1.0f + std::abs(want)));
  });
  (*row)["peer_mismatches"] = wrong;
  if (wrong > 0) return absl::DataLossError(absl::StrCat(wrong, " of cuDNN's outputs are wrong"));
  return peer;
}
#endif

// An operator with zero points, and the same tile without.
struct Zeros {
  std::optional<Way> with_way;
  Contestant with, without;

  template <template <class> class Of>
  absl::Status Find(const Bench& bench, const Data& d) {
    return ForEachTile<DeconvZeroTiles>([&]<class Tile>() -> absl::Status {
      std::optional<Way> without_way, way;
      WEFT_TRY(Try<Of<Tile>>(bench, d, &way));
      WEFT_TRY(Try<DeconvRelu<Tile>>(bench, d, &without_way));
      if (!way.has_value() || !without_way.has_value()) return absl::OkStatus();
      if (with_way.has_value() && with_way->us <= way->us) return absl::OkStatus();
      with_way = way;
      with.enqueue = way->enqueue, without.enqueue = without_way->enqueue;
      return absl::OkStatus();
    });
  }

  void Describe(const std::string& what, Json* row) const {
    if (!with_way.has_value()) return;
    const double us = Quantile(with.samples, 0.5);
    row->update({{what + "_us", Rounded(us)},
                 {what + "_kernel", with_way->name},
                 {"over_" + what, Rounded(us / Quantile(without.samples, 0.5), 4)}});
  }
};

absl::Status Measure(Bench& bench, const DeconvolutionProblem& problem, Json* row) {
  WEFT_LET(const Data d, MakeData(problem));
  std::optional<Way> way;
  WEFT_TRY((ForEachTile<DeconvTiles>(
      [&]<class Tile>() { return Try<DeconvRelu<Tile>>(bench, d, &way); })));
  if (!way.has_value()) return absl::UnimplementedError("no tile takes the problem");
  (*row)["kernel"] = way->name;
  Contestant ours, theirs;
  ours.enqueue = way->enqueue;
  std::vector<Contestant*> contestants = {&ours};
  // With zero points over the quicker of two tiles, and without over the same.
  Zeros source, both;
  WEFT_TRY(source.Find<DeconvSourceZero>(bench, d));
  WEFT_TRY(both.Find<DeconvBothZeros>(bench, d));
  for (Zeros* zeros : {&source, &both}) {
    if (!zeros->with_way.has_value()) continue;
    contestants.insert(contestants.end(), {&zeros->with, &zeros->without});
  }
  bool has_peer = false;
#if WEFT_HAVE_CUDNN
  const absl::StatusOr<std::unique_ptr<CudnnGradient>> peer = MakePeer(bench, d, row);
  if (peer.ok()) {
    theirs.enqueue = [&](int set) { return (*peer)->Enqueue(set, bench.stream()); };
    contestants.push_back(&theirs);
    has_peer = true;
  } else {
    (*row)["note"] = std::string(peer.status().message());
  }
#endif
  for (Contestant* c : contestants) {
    WEFT_TRY(bench.watch().Prepare(*c, d.count(), kSampleMicroseconds));
  }
  WEFT_TRY(bench.watch().Interleave(contestants, 15, 1e6));
  const double us = Quantile(ours.samples, 0.5);
  row->update({{"ours_us", Rounded(us)},
               {"ours_tops", Rounded(2e-6 * problem.macs() / us)},
               {"buffer_sets", d.count()},
               {"mismatches", 0}});
  source.Describe("source_zero", row);
  both.Describe("both_zeros", row);
  if (has_peer) {
    const double peer_us = Quantile(theirs.samples, 0.5);
    row->update({{"peer_us", Rounded(peer_us)}, {"ratio", Rounded(peer_us / us)}});
  }
  return bench.ReadClock(ours, row);
}

absl::Status MeasureAll(Bench& bench) {
  for (const std::int64_t n : {16, 64}) {
    for (const DeconvolutionProblem& problem :
         {Doubled(n, 128, 28, 128, 3), Doubled(n, 256, 14, 256, 3), Doubled(n, 512, 7, 512, 3),
          Doubled(n, 512, 8, 256, 4), Doubled(n, 256, 16, 128, 4), Doubled(n, 256, 32, 128, 2)}) {
      WEFT_TRY(bench.Row(Name(problem), [&](Json* row) { return Measure(bench, problem, row); }));
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA

int main(int argc, char** argv) {
  constexpr weft::perf::BenchProgram kProgram = {
      "deconv_bench", "Deconvolution against cuDNN's gradient of a convolution",
      "random data; source, filter and destination rotated past the L2; CUDA graphs, dependent "
      "launches; medians of "
      "interleaved samples; the peer is the fastest plan of cuDNN's graph API, in half precision, "
      "without bias and activation; over_source_zero, over_both_zeros: the time with zero points "
      "over that of the "
      "same tile without"};
#if WEFT_HAVE_CUDA
  return weft::perf::BenchMain(argc, argv, kProgram, weft::perf::MeasureAll);
#else
  return weft::perf::BenchMain(argc, argv, kProgram, nullptr);
#endif
}
