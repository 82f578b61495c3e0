#include "examples/weft_demo/kernels.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "examples/weft_demo/operators.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/random.hpp"
#include "tests/reference/reference.hpp"
#include "weft/conv/convolution.hpp"

namespace weft_demo {
namespace {

using examples::Backend;
using weft::conv::Problem;

// Milliseconds of the fastest of as many launches as fit in kEnough.
absl::StatusOr<double> TimeOnCpu(const std::function<absl::Status()>& launch) {
  constexpr double kEnough = 30.0;
  double fastest = 0.0;
  for (double spent = 0.0; spent < kEnough;) {
    const auto start = std::chrono::steady_clock::now();
    if (absl::Status s = launch(); !s.ok()) return s;
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    fastest = spent == 0.0 ? time.count() : std::min(fastest, time.count());
    spent += time.count();
  }
  return fastest;
}

#if WEFT_HAVE_CUDA
// Times `op` in milliseconds and leaves its result in *dst. `args` holds host addresses.
template <class Op, class PackedFilter>
absl::StatusOr<double> TimeOnGpu(const Op& op, const PackedFilter& filter,
                                 typename Op::Arguments args, const LayerData& data,
                                 std::vector<std::int8_t>* dst) {
  using weft::perf::DeviceBuffer;
  using Buffer = absl::StatusOr<DeviceBuffer>;
  constexpr int kLaunches = 50;
  const Buffer src = DeviceBuffer::FromBytes(args.src, op.src_size());
  const Buffer taps = DeviceBuffer::FromBytes(filter.data(), filter.bytes());
  const Buffer alpha = DeviceBuffer::From(data.channel_alpha);
  const Buffer bias = DeviceBuffer::From(data.bias);
  const Buffer result = DeviceBuffer::From(*dst);
  for (const Buffer* buffer : {&src, &taps, &alpha, &bias, &result}) {
    if (!buffer->ok()) return buffer->status();
  }
  args.src = src->as<const std::int8_t>();
  args.filter = filter.At(taps->data());
  args.channel_alpha = alpha->as<const float>();
  args.bias = bias->as<const float>();
  args.dst = result->as<std::int8_t>();

  weft::perf::CudaStream stream;
  weft::perf::CudaTimer timer;
  if (absl::Status s = stream.Init(); !s.ok()) return s;
  if (absl::Status s = timer.Init(); !s.ok()) return s;
  if (absl::Status s = op.Run(args, stream.get()); !s.ok()) return s;  // loads the kernel
  // In a graph, so that what the host does for a launch is not timed.
  const auto graph = weft::perf::CudaGraph::Capture(stream.get(), [&]() -> absl::Status {
    for (int i = 0; i < kLaunches; ++i) {
      if (absl::Status s = op.Run(args, stream.get()); !s.ok()) return s;
    }
    return absl::OkStatus();
  });
  if (!graph.ok()) return graph.status();
  const auto launch = [&] { return graph->Launch(stream.get()); };
  if (absl::Status s = launch(); !s.ok()) return s;  // warms up
  const absl::StatusOr<double> microseconds = timer.Time(stream.get(), launch);
  if (!microseconds.ok()) return microseconds.status();
  if (absl::Status s = result->CopyTo(dst->data(), result->bytes()); !s.ok()) return s;
  return *microseconds / kLaunches / 1000.0;
}
#endif

template <class Policy>
absl::Status Check(const Problem& problem) {
  return weft::conv::Convolution<Policy>::Create(problem).status();
}

template <class Policy>
absl::StatusOr<Measurement> Run(const LayerData& data, Backend backend,
                                const std::vector<std::int8_t>* want) {
  using Op = weft::conv::Convolution<Policy>;
  using Dst = typename Policy::DstLayout;
  const Problem& problem = data.problem;
  const absl::StatusOr<Op> op = Op::Create(problem);
  if (!op.ok()) return op.status();
  const auto src = weft::ConvertTensor<weft::NCHW, typename Policy::SrcLayout>(
      problem.src(), absl::MakeConstSpan(data.src));
  if (!src.ok()) return src.status();
  const auto filter = weft::PackFilter<typename Policy::FilterLayout>(
      problem.filter(), absl::MakeConstSpan(data.filter));
  if (!filter.ok()) return filter.status();

  std::vector<std::int8_t> dst(op->dst_size(), 0x55);  // an output that nobody writes shows
  const typename Op::Arguments args = {.src = src->data(),
                                       .filter = filter->view(),
                                       .bias = data.bias.data(),
                                       .dst = dst.data(),
                                       .channel_alpha = data.channel_alpha.data()};
  Measurement measurement;
  if (backend == Backend::kCpu) {
    const absl::StatusOr<double> time = TimeOnCpu([&] { return op->RunOnCpu(args); });
    if (!time.ok()) return time.status();
    measurement.milliseconds = *time;
  } else {
#if WEFT_HAVE_CUDA
    const absl::StatusOr<double> time = TimeOnGpu(*op, *filter, args, data, &dst);
    if (!time.ok()) return time.status();
    measurement.milliseconds = *time;
#else
    return absl::FailedPreconditionError("this build has no CUDA back end");
#endif
  }
  if (want == nullptr) return measurement;

  // Channels that only fill the last block must be zero, as they are after a conversion.
  const auto blocked =
      weft::ConvertTensor<weft::NCHW, Dst>(problem.dst(), absl::MakeConstSpan(*want));
  if (!blocked.ok()) return blocked.status();
  measurement.mismatches = 0;
  for (std::size_t i = 0; i < dst.size(); ++i) measurement.mismatches += dst[i] != (*blocked)[i];
  return measurement;
}

template <class Policy>
Kernel MakeKernel(Operator op) {
  return {op,
          Policy::config,
          Policy::SrcLayout::kName,
          Policy::DstLayout::kName,
          &Check<Policy>,
          &Run<Policy>};
}

template <template <weft::conv::Config> class Policy>
void AddKernels(Operator op, std::vector<Kernel>* kernels) {
  kernels->push_back(MakeKernel<Policy<weft::conv::kSimt128x128>>(op));
  kernels->push_back(MakeKernel<Policy<weft::conv::kSimt128x32>>(op));
  kernels->push_back(MakeKernel<Policy<weft::conv::kSimt64x64>>(op));
  kernels->push_back(MakeKernel<Policy<weft::conv::kSimt32x32>>(op));
}

// Blocks are dealt to processors in waves, the last of which may be nearly empty. A block costs
// what its tile multiplies, plus what each of its threads does besides, which is far more on the
// CPU, plus the bringing of its operands.
double ExpectedCost(const weft::conv::Config& config, const Problem& problem,
                    const Machine& machine) {
  const double m = config.threadblock.m, n = config.threadblock.n;
  const double pixels = static_cast<double>(problem.n * problem.p() * problem.q());
  const double blocks = std::ceil(pixels / m) * std::ceil(static_cast<double>(problem.k) / n);
  const double waves = std::ceil(blocks / machine.processors);
  const double threads = m * n / (config.thread.m * config.thread.n);
  const double besides = machine.backend == Backend::kCpu ? 256.0 : 16.0;
  return waves * (m * n + besides * threads + 8.0 * (m + n));
}

}  // namespace

LayerData::LayerData(const Problem& p) : problem(p) {
  src = weft::perf::RandomInt8s(p.n * p.c * p.h * p.w, 1);
  filter = weft::perf::RandomInt8s(p.k * p.c * p.r * p.s, 2);
  // A product of two uniform int8 values has the standard deviation 5461.
  const float typical = 5461.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s));
  channel_alpha = weft::perf::RandomFloats(p.k, 3, 30.0f / typical, 90.0f / typical);
  bias = weft::perf::RandomFloats(p.k, 4, -20.0f, 20.0f);
}

std::string Kernel::tile() const {
  return absl::StrCat(config.threadblock.m, "x", config.threadblock.n);
}

const std::vector<Kernel>& Kernels() {
  static const std::vector<Kernel>& kernels = *[] {
    auto* all = new std::vector<Kernel>;
    AddKernels<ConvBiasRelu>(Operator::kRelu, all);
    AddKernels<ConvBiasHSwishReformat>(Operator::kHSwishReformat, all);
    return all;
  }();
  return kernels;
}

absl::StatusOr<Kernel> ChooseKernel(Operator op, const Problem& problem, const Machine& machine,
                                    const std::string& tile) {
  const Kernel* best = nullptr;
  double best_cost = 0.0;
  std::vector<std::string> tiles;
  for (const Kernel& kernel : Kernels()) {
    if (kernel.op != op) continue;
    tiles.push_back(kernel.tile());
    if (!tile.empty() && kernel.tile() != tile) continue;
    const double cost = ExpectedCost(kernel.config, problem, machine);
    if (best == nullptr || cost < best_cost) best = &kernel, best_cost = cost;
  }
  if (best == nullptr) {
    return absl::NotFoundError(absl::StrCat("--tile=", tile, " does not exist; accepted are ",
                                            absl::StrJoin(tiles, ", ")));
  }
  return *best;
}

std::vector<std::int8_t> Reference(Operator op, const LayerData& data) {
  const weft::reference::EpilogueData epilogue = {.channel_alpha = data.channel_alpha.data(),
                                                  .bias = data.bias.data()};
  const auto convolve = [&](const auto& activation) {
    return weft::reference::Convolve<std::int8_t>(data.problem, data.src.data(), data.filter.data(),
                                                  epilogue, activation, weft::reference::kInt8,
                                                  /*threads=*/0);
  };
  return op == Operator::kRelu ? convolve(weft::reference::ReluActivation())
                               : convolve(weft::reference::HSwishActivation());
}

}  // namespace weft_demo
