#include "examples/weft_demo/cudnn.hpp"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "perf/support/cuda.hpp"
#include "weft/layouts/packed_filter.hpp"
#include "weft/layouts/packing.hpp"

#if WEFT_HAVE_CUDA
#include "perf/peers/peer.hpp"
#endif

namespace weft_demo {

CudnnDifferences Compare(const std::vector<std::int8_t>& ours,
                         const std::vector<std::int8_t>& cudnns) {
  CudnnDifferences differences;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const int difference = std::abs(ours[i] - cudnns[i]);
    differences.count += difference != 0;
    differences.largest = std::max(differences.largest, difference);
  }
  return differences;
}

#if WEFT_HAVE_CUDA

absl::StatusOr<CudnnAnswer> RunCudnn(Operator op, const LayerData& data) {
  using weft::perf::DeviceBuffer;
  using Buffer = absl::StatusOr<DeviceBuffer>;
  constexpr int kLaunches = 50;
  if (!weft::perf::CheckGpu().ok()) return absl::NotFoundError("no GPU");
  const weft::conv::Problem& p = data.problem;
  const auto src =
      weft::ConvertTensor<weft::NCHW, weft::NHWC>(p.src(), absl::MakeConstSpan(data.src));
  const auto filter = weft::PackFilter<weft::KRSC>(p.filter(), absl::MakeConstSpan(data.filter));
  if (!src.ok()) return src.status();
  if (!filter.ok()) return filter.status();
  std::vector<std::int8_t> nhwc(weft::NHWC::Size(p.dst()));
  const Buffer src_buffer = DeviceBuffer::From(*src);
  const Buffer filter_buffer = DeviceBuffer::FromBytes(filter->data(), filter->bytes());
  const Buffer alpha = DeviceBuffer::From(data.channel_alpha);
  const Buffer bias = DeviceBuffer::From(data.bias);
  const Buffer result = DeviceBuffer::From(nhwc);
  for (const Buffer* buffer : {&src_buffer, &filter_buffer, &alpha, &bias, &result}) {
    if (!buffer->ok()) return buffer->status();
  }
  weft::perf::PeerTensors tensors;
  tensors.sets = {{.src = src_buffer->as<const std::int8_t>(),
                   .filter = filter_buffer->as<const std::int8_t>(),
                   .channel_alpha = alpha->as<const float>(),
                   .bias = bias->as<const float>()}};
  weft::perf::PeerProblem problem;
  problem.problem = p;
  problem.relu = IsRelu(op);
  problem.hswish = !IsRelu(op);
  weft::perf::PeerOptions options;
  options.most_variants = kCudnnPlans;
  options.build_threads = kCudnnPlans;

  weft::perf::CudaStream stream;
  weft::perf::CudaTimer timer;
  if (absl::Status s = stream.Init(); !s.ok()) return s;
  if (absl::Status s = timer.Init(); !s.ok()) return s;
  const auto made = weft::perf::MakePeer("cudnn_graph");
  if (!made.ok()) return made.status();
  weft::perf::Peer& peer = **made;
  if (absl::Status s = peer.Prepare(problem, tensors, options, stream.get()); !s.ok()) return s;
  CudnnAnswer answer;
  for (int plan = 0; plan < static_cast<int>(peer.variants().size()); ++plan) {
    if (!peer.Build(plan).ok()) continue;
    const auto run = [&] { return peer.Enqueue(plan, 0, stream.get()); };
    if (!run().ok()) continue;
    const auto graph = weft::perf::CudaGraph::Capture(stream.get(), [&]() -> absl::Status {
      for (int i = 0; i < kLaunches; ++i) {
        if (absl::Status s = run(); !s.ok()) return s;
      }
      return absl::OkStatus();
    });
    if (!graph.ok()) continue;
    const auto launch = [&] { return graph->Launch(stream.get()); };
    if (absl::Status s = launch(); !s.ok()) return s;  // warms up
    const absl::StatusOr<double> microseconds = timer.Time(stream.get(), launch);
    if (!microseconds.ok()) return microseconds.status();
    const double milliseconds = *microseconds / kLaunches / 1000.0;
    if (answer.milliseconds == 0.0 || milliseconds < answer.milliseconds) {
      answer.milliseconds = milliseconds;
      absl::Status s = peer.Output(0, result->as<std::int8_t>(), stream.get());
      if (s.ok()) s = stream.Synchronize();
      if (s.ok()) s = result->CopyTo(nhwc.data(), result->bytes());
      if (!s.ok()) return s;
    }
    peer.Release(plan);
  }
  if (answer.milliseconds == 0.0) return absl::UnimplementedError("cuDNN has no plan for it");
  auto planar = weft::ConvertTensor<weft::NHWC, weft::NCHW>(p.dst(), absl::MakeConstSpan(nhwc));
  if (!planar.ok()) return planar.status();
  answer.dst = *std::move(planar);
  return answer;
}

#else

absl::StatusOr<CudnnAnswer> RunCudnn(Operator, const LayerData&) {
  return absl::NotFoundError("this build has no CUDA back end");
}

#endif  // WEFT_HAVE_CUDA

}  // namespace weft_demo
