#include "examples/weft_demo/kernels.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "examples/weft_demo/operators.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/random.hpp"
#include "tests/reference/reference.hpp"
#include "weft/conv/dispatch.hpp"

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

template <class F>
struct FirstOf;
template <class P, class... Others>
struct FirstOf<weft::conv::Family<P, Others...>> {
  using type = P;
};

template <class F>
absl::StatusOr<Measurement> Run(const LayerData& data, int index, Backend backend,
                                const std::vector<std::int8_t>* want) {
  using Op = weft::conv::Dispatch<F>;
  using Policy = typename FirstOf<F>::type;
  using Dst = typename Policy::DstLayout;
  const Problem& problem = data.problem;
  const absl::StatusOr<Op> op = Op::CreateAt(problem, index);
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

template <class F>
void AddKernels(Operator op, std::vector<Kernel>* kernels) {
  using Policy = typename FirstOf<F>::type;
  int index = 0;
  for (const weft::conv::TileDescription& config : weft::conv::Dispatch<F>::Configs()) {
    kernels->push_back(
        {op, index++, config, Policy::SrcLayout::kName, Policy::DstLayout::kName, &Run<F>});
  }
}

// The index of the policy that Dispatch chooses.
template <class F>
absl::StatusOr<int> ChooseIndex(const Problem& problem, const Machine& machine) {
  using Op = weft::conv::Dispatch<F>;
  const absl::StatusOr<Op> op = machine.backend == Backend::kCpu ? Op::Create(problem, machine.cpu)
                                                                 : Op::Create(problem, machine.gpu);
  if (!op.ok()) return op.status();
  return op->index();
}

absl::StatusOr<int> ChooseIndex(Operator op, const Problem& problem, const Machine& machine) {
  switch (op) {
    case Operator::kRelu:
      return ChooseIndex<ConvBiasReluFamily>(problem, machine);
    case Operator::kHSwishReformat:
      return ChooseIndex<ConvBiasHSwishReformatFamily>(problem, machine);
    case Operator::kRelu32:
      return ChooseIndex<Conv32BiasReluFamily>(problem, machine);
    case Operator::kHSwish32:
      return ChooseIndex<Conv32BiasHSwishFamily>(problem, machine);
  }
  return absl::InternalError("weft_demo: no such operator");
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
  return absl::StrCat(config.threadblock.m, "x", config.threadblock.n, "x", config.threadblock.k);
}

const std::vector<Kernel>& Kernels() {
  static const std::vector<Kernel>& kernels = *[] {
    auto* all = new std::vector<Kernel>;
    AddKernels<ConvBiasReluFamily>(Operator::kRelu, all);
    AddKernels<ConvBiasHSwishReformatFamily>(Operator::kHSwishReformat, all);
    AddKernels<Conv32BiasReluFamily>(Operator::kRelu32, all);
    AddKernels<Conv32BiasHSwishFamily>(Operator::kHSwish32, all);
    return all;
  }();
  return kernels;
}

absl::StatusOr<Kernel> ChooseKernel(Operator op, const Problem& problem, const Machine& machine,
                                    const std::string& tile) {
  const absl::StatusOr<int> chosen = ChooseIndex(op, problem, machine);
  if (!chosen.ok()) return chosen.status();
  std::vector<std::string> tiles;
  for (const Kernel& kernel : Kernels()) {
    if (kernel.op != op) continue;
    const std::string name = kernel.tile();
    tiles.push_back(name);
    const bool same = name == tile || absl::StartsWith(name, absl::StrCat(tile, "x"));
    if (tile.empty() ? kernel.index == *chosen : same) return kernel;
  }
  return absl::NotFoundError(
      absl::StrCat("--tile=", tile, " does not exist; accepted are ", absl::StrJoin(tiles, ", ")));
}

std::vector<std::int8_t> Reference(Operator op, const LayerData& data) {
  const weft::reference::EpilogueData epilogue = {.channel_alpha = data.channel_alpha.data(),
                                                  .bias = data.bias.data()};
  const auto convolve = [&](const auto& activation) {
    return weft::reference::Convolve<std::int8_t>(data.problem, data.src.data(), data.filter.data(),
                                                  epilogue, activation, weft::reference::kInt8,
                                                  /*threads=*/0);
  };
  return IsRelu(op) ? convolve(weft::reference::ReluActivation())
                    : convolve(weft::reference::HSwishActivation());
}

}  // namespace weft_demo
