#include "examples/weft_demo/gpu.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "perf/peers/cudnn_graph.hpp"
#include "weft/layouts/packed_filter.hpp"
#include "weft/layouts/packing.hpp"

namespace weft_demo {

using weft::perf::CudaGraph;
using weft::perf::DeviceBuffer;

absl::StatusOr<double> TimeOnGpu(const std::function<absl::Status(cudaStream_t)>& launch) {
  constexpr int kLaunches = 50, kRuns = 20;
  weft::perf::CudaStream stream;
  weft::perf::CudaTimer timer;
  WEFT_TRY(stream.Init());
  WEFT_TRY(timer.Init());
  WEFT_TRY(launch(stream.get()));  // loads the kernel
  WEFT_LET(const CudaGraph graph, CudaGraph::Capture(stream.get(), [&]() -> absl::Status {
             for (int i = 0; i < kLaunches; ++i) WEFT_TRY(launch(stream.get()));
             return absl::OkStatus();
           }));
  WEFT_TRY(graph.Launch(stream.get()));  // warms up
  double fastest = 0.0;
  for (int i = 0; i < kRuns; ++i) {
    WEFT_LET(const double time,
             timer.Time(stream.get(), [&] { return graph.Launch(stream.get()); }));
    fastest = i == 0 ? time : std::min(fastest, time);
  }
  return fastest / kLaunches / 1000.0;
}

#if WEFT_HAVE_CUDNN

absl::StatusOr<CudnnTime> TimeCudnn(const Layer& layer) {
  namespace internal = weft::perf::internal;
  constexpr int kMostPlans = 8;  // cuDNN names its best first
  const weft::conv::Problem& p = layer.problem;
  WEFT_LET(const weft::perf::CudnnApi* const api, weft::perf::CudnnApi::Get());
  WEFT_LET(const cudnnHandle_t handle, api->MainHandle());
  weft::perf::PeerProblem problem;
  problem.problem = p;
  WEFT_LET(const internal::CudnnGraph graph,
           internal::CudnnGraph::Convolution(*api, handle, problem, /*half=*/false));

  WEFT_LET(const auto nhwc,
           weft::ConvertTensor<weft::NCHW, weft::NHWC>(p.src(), absl::MakeConstSpan(layer.src)));
  WEFT_LET(const auto krsc,
           weft::PackFilter<weft::KRSC>(p.filter(), absl::MakeConstSpan(layer.filter)));
  const float scale = layer.alpha / layer.output_scale;  // to steps: a ReLU needs no real numbers
  std::vector<float> bias = layer.bias;
  for (float& b : bias) b /= layer.output_scale;
  DeviceBuffer src, filter, scales, biases, dst;
  WEFT_LET(src, DeviceBuffer::From(nhwc));
  WEFT_LET(filter, DeviceBuffer::FromBytes(krsc.data(), krsc.bytes()));
  WEFT_LET(scales, DeviceBuffer::From(std::vector<float>(p.k, scale)));
  WEFT_LET(biases, DeviceBuffer::From(bias));
  WEFT_LET(dst, DeviceBuffer::Create(weft::NHWC::Size(p.dst())));

  CudnnTime best{api->version};
  for (const internal::CudnnGraph::Config& config : graph.Configs({})) {
    if (best.plans == kMostPlans) break;
    internal::CudnnPlan plan(graph, handle, config);
    if (plan.status() != CUDNN_STATUS_SUCCESS) continue;
    WEFT_TRY(plan.Bind(1, [&](int) {
      return internal::CudnnPlan::Addresses{{internal::kSrc, src.data()},
                                            {internal::kFilter, filter.data()},
                                            {internal::kScale, scales.data()},
                                            {internal::kBias, biases.data()},
                                            {internal::kDst, dst.data()}};
    }));
    const absl::StatusOr<double> time =
        TimeOnGpu([&](cudaStream_t stream) { return plan.Enqueue(0, stream); });
    WEFT_TRY(
        api->Check(api->SetStream(handle, nullptr), "cudnnSetStream"));  // the other is no more
    if (!time.ok()) continue;
    best.milliseconds = best.plans == 0 ? *time : std::min(best.milliseconds, *time);
    ++best.plans;
  }
  if (best.plans == 0) return absl::UnimplementedError("cuDNN has no plan for this layer");
  return best;
}

#else

absl::StatusOr<CudnnTime> TimeCudnn(const Layer&) {
  return absl::NotFoundError("there was no cudnn.h when this program was built");
}

#endif

}  // namespace weft_demo
