// deconv_bench [FILE.json]: Deconvolution over NCxHWx<32>, int8 with bias and ReLU, through the tiles
// of wgmma_sm90 that perf/operators.cmake compiles, against cuDNN's gradient of a convolution by its
// source (half, NHWC, neither bias nor ReLU). Layers of generators and of U-Net, and gradients of
// ResNet-50's 3x3 convolutions of stride 2; N = 16 and 64.
//
// A few hundred outputs of each are compared with sums computed here, ours exactly.
#if WEFT_HAVE_CUDA

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/deconv_bench/peer.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/json.hpp"
#include "perf/support/status.hpp"
#include "perf/support/stopwatch.hpp"
#include "weft/conv/deconvolution.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/conv/tuning.hpp"

namespace weft::perf {
namespace {

using conv::DeconvolutionProblem;

constexpr double kSampleMicroseconds = 2000.0, kTryMicroseconds = 500.0;
constexpr float kBias = 3.0f;

// Those that have GPU code are tried.
using Tiles = std::tuple<conv::Wgmma128x256, conv::Wgmma208x128, conv::Wgmma192x128,
                         conv::Wgmma192x64, conv::Wgmma96x128, conv::Wgmma64x64>;

std::vector<std::int8_t> RandomBytes(std::int64_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<std::int8_t> values(count);
  for (std::int8_t& v : values) v = static_cast<std::int8_t>(engine() >> 24);
  return values;
}

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

// A problem's data: planar on the host, packed on the GPU.
struct Data {
  DeconvolutionProblem problem;
  std::vector<std::int8_t> src, filter;
  conv::PackedDeconvolutionFilterBuffer<CxRSKx<32>> packed;
  DeviceBuffer gpu_src, gpu_filter, bias, dst;
  float alpha = 1.0f;

  std::int64_t Sum(std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) const {
    const DeconvolutionProblem& d = problem;
    std::int64_t sum = 0;
    for (std::int64_t r = 0; r < d.r; ++r) {
      for (std::int64_t s = 0; s < d.s; ++s) {
        const std::int64_t h = p + d.pad_top - r, w = q + d.pad_left - s;
        if (h < 0 || h % 2 != 0 || h / 2 >= d.h || w < 0 || w % 2 != 0 || w / 2 >= d.w) continue;
        for (std::int64_t c = 0; c < d.c; ++c) {
          sum += src[NCHW::Offset(d.src(), n, c, h / 2, w / 2)] *
                 filter[((c * d.k + k) * d.r + r) * d.s + s];
        }
      }
    }
    return sum;
  }

  // wrong(n, k, p, q, sum) for a sample of outputs: how many are.
  template <class Wrong>
  int Mismatches(const Wrong& wrong) const {
    std::mt19937_64 engine(3);
    const auto pick = [&](std::int64_t n) {
      return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n));
    };
    int count = 0;
    for (int i = 0; i < 400; ++i) {
      const std::int64_t n = pick(problem.n), k = pick(problem.k);
      const std::int64_t p = pick(problem.p()), q = pick(problem.q());
      count += wrong(n, k, p, q, Sum(n, k, p, q));
    }
    return count;
  }
};

absl::StatusOr<Data> MakeData(const DeconvolutionProblem& p) {
  Data d;
  d.problem = p;
  d.src = RandomBytes(NCHW::Size(p.src()), 1);
  d.filter = RandomBytes(p.c * p.k * p.r * p.s, 2);
  WEFT_LET(d.packed, conv::PackDeconvolutionFilter<CxRSKx<32>>(p, d.filter));
  WEFT_LET(const std::vector<std::int8_t> blocked,
           (ConvertTensor<NCHW, NCxHWx<32>, std::int8_t>(p.src(), d.src)));
  WEFT_LET(d.gpu_src, DeviceBuffer::From(blocked));
  WEFT_LET(d.gpu_filter, DeviceBuffer::FromBytes(d.packed.data(), d.packed.bytes()));
  WEFT_LET(d.bias, DeviceBuffer::From(std::vector<float>(p.k, kBias)));
  WEFT_LET(d.dst, DeviceBuffer::Create(NCxHWx<32>::Size(p.dst())));
  d.alpha = 1.0f / (60.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s)));
  return d;
}

struct Way {
  std::string name;
  std::function<absl::Status(cudaStream_t)> enqueue;
  double us = 0.0;
};

template <class Tile>
absl::Status Try(const Stopwatch& watch, const Data& d, std::optional<Way>* best) {
  using P = conv::S8Deconv32<epilogues::BiasRelu<>, NCxHWx<32>, Tile>;
  using Op = conv::Deconvolution<P>;
  const absl::StatusOr<Op> op = Op::Create(d.problem);
  if (!op.ok() || !gemm::HasGpuCode<P>()) return absl::OkStatus();
  typename Op::Arguments args;
  args.src = d.gpu_src.as<std::int8_t>();
  args.filter = d.packed.At(d.gpu_filter.data());
  args.bias = d.bias.as<float>();
  args.dst = d.dst.as<std::int8_t>();
  args.alpha = d.alpha;
  args.filter_is_constant = true;
  Way way = {conv::PolicyName(P::config),
             [op = *op, args](cudaStream_t stream) { return op.Run(args, stream); }};
  WEFT_TRY(d.dst.Fill(0x77));
  WEFT_TRY(way.enqueue(watch.stream()));
  WEFT_LET(const std::vector<std::int8_t> dst, d.dst.Read<std::int8_t>());
  const int wrong = d.Mismatches([&](auto n, auto k, auto p, auto q, std::int64_t sum) {
    const float t = std::max(0.0f, std::fmaf(1.0f, kBias, d.alpha * static_cast<float>(sum)));
    const auto want = static_cast<std::int8_t>(std::min(127.0f, std::nearbyint(t)));
    return dst[NCxHWx<32>::Offset(d.problem.dst(), n, k, p, q)] != want;
  });
  if (wrong > 0) return absl::DataLossError(absl::StrCat(way.name, ": ", wrong, " wrong outputs"));
  WEFT_LET(way.us,
           watch.Short([&](int) { return way.enqueue(watch.stream()); }, 1, kTryMicroseconds));
  if (!best->has_value() || way.us < (*best)->us) *best = std::move(way);
  return absl::OkStatus();
}

template <class... Tile>
absl::StatusOr<Way> Best(const Stopwatch& watch, const Data& d, std::tuple<Tile...>) {
  std::optional<Way> best;
  absl::Status status;
  const auto next = [&](const absl::Status& s) {
    status = s;
    return s.ok();
  };
  (void)(next(Try<Tile>(watch, d, &best)) && ...);
  WEFT_TRY(status);
  if (!best.has_value()) return absl::UnimplementedError("no tile takes the problem");
  return *best;
}

absl::Status Measure(const Stopwatch& watch, const DeconvolutionProblem& problem, Json* rows) {
  WEFT_LET(const Data d, MakeData(problem));
  WEFT_LET(const Way way, Best(watch, d, Tiles()));
  Contestant ours, theirs;
  ours.enqueue = [&](int) { return way.enqueue(watch.stream()); };
  WEFT_TRY(watch.Prepare(ours, 1, kSampleMicroseconds));
  std::vector<Contestant*> contestants = {&ours};
  Json row = {{"layer", Name(problem)}, {"kernel", way.name}};
#if WEFT_HAVE_CUDNN
  const absl::StatusOr<std::unique_ptr<CudnnGradient>> peer =
      CudnnGradient::Create(problem, d.src, d.filter, watch);
  if (peer.ok()) {
    WEFT_TRY((*peer)->dst().Fill(0xff));
    WEFT_TRY((*peer)->Enqueue(watch.stream()));
    WEFT_LET(const std::vector<Half> dst, (*peer)->dst().Read<Half>());
    const int wrong = d.Mismatches([&](auto n, auto k, auto p, auto q, std::int64_t sum) {
      const float want = static_cast<float>(sum) / 4096.0f;
      const float got = dst[NHWC::Offset(d.problem.dst(), n, k, p, q)].ToFloat();
      return !(std::abs(got - want) <= 0.01f * (1.0f + std::abs(want)));
    });
    row["peer_mismatches"] = wrong;
    row["peer"] = (*peer)->name();
    theirs.enqueue = [&](int) { return (*peer)->Enqueue(watch.stream()); };
    WEFT_TRY(watch.Prepare(theirs, 1, kSampleMicroseconds));
    contestants.push_back(&theirs);
  } else {
    row["note"] = std::string(peer.status().message());
  }
#endif
  WEFT_TRY(watch.Interleave(contestants, 15, 1e6));
  const double us = Quantile(ours.samples, 0.5);
  row["ours_us"] = Rounded(us);
  row["ours_tops"] = Rounded(2e-6 * problem.macs() / us);
  std::printf("%-28s %-40s %9.2f us", Name(problem).c_str(), way.name.c_str(), us);
  if (contestants.size() > 1) {
    const double peer_us = Quantile(theirs.samples, 0.5);
    row["peer_us"] = Rounded(peer_us);
    row["ratio"] = Rounded(peer_us / us);
    std::printf("  cuDNN half %9.2f us, %5.2f", peer_us, peer_us / us);
  }
  std::printf("\n");
  rows->push_back(row);
  return absl::OkStatus();
}

absl::Status Main(const char* file) {
  Stopwatch watch;
  WEFT_TRY(watch.Init());
  Json rows = Json::array();
  for (const std::int64_t n : {16, 64}) {
    for (const DeconvolutionProblem& problem :
         {Doubled(n, 128, 28, 128, 3), Doubled(n, 256, 14, 256, 3), Doubled(n, 512, 7, 512, 3),
          Doubled(n, 512, 8, 256, 4), Doubled(n, 256, 16, 128, 4), Doubled(n, 256, 32, 128, 2)}) {
      WEFT_TRY(Measure(watch, problem, &rows));
      if (file == nullptr) continue;
      std::ofstream out(file);
      out << Json{{"environment", {{"program", "deconv_bench"}}}, {"rows", rows}}.dump(1) << "\n";
      if (!out) return absl::UnavailableError("cannot write the file");
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  const absl::Status status = weft::perf::Main(argc > 1 ? argv[1] : nullptr);
  if (status.ok()) return 0;
  std::fprintf(stderr, "deconv_bench: %s\n", std::string(status.message()).c_str());
  return 1;
}

#else

#include <cstdio>

int main() {
  std::puts("deconv_bench: built without CUDA, nothing to measure");
  return 1;
}

#endif
