#include "examples/weft_demo/layer.hpp"

#include <chrono>
#include <functional>
#include <utility>

#include "absl/types/span.h"
#include "examples/weft_demo/my_operator.hpp"
#include "perf/support/random.hpp"
#include "tests/reference/reference.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/layouts/packing.hpp"

#if WEFT_DEMO_GPU
#include "examples/weft_demo/gpu.hpp"
#include "weft/gemm/arch/device.hpp"
#endif

namespace weft_demo {
namespace {

double MillisecondsOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// Runs Policy's operator: start(op, filter, arguments), whose addresses are the host's.
template <class Policy, class Start>
absl::StatusOr<Answer> Run(const Layer& layer, const Start& start) {
  using Op = weft::conv::Convolution<Policy>;
  const absl::StatusOr<Op> op = Op::Create(layer.problem);
  if (!op.ok()) return op.status();
  const auto src = weft::ConvertTensor<weft::NCHW, typename Policy::SrcLayout>(
      layer.problem.src(), absl::MakeConstSpan(layer.src));
  if (!src.ok()) return src.status();
  const auto filter = weft::PackFilter<typename Policy::FilterLayout>(
      layer.problem.filter(), absl::MakeConstSpan(layer.filter));
  if (!filter.ok()) return filter.status();
  std::vector<std::int8_t> dst(op->dst_size(), 0x55);  // an output that nobody writes shows

  typename Op::Arguments args = {.src = src->data(),
                                 .filter = filter->view(),
                                 .bias = layer.bias.data(),
                                 .dst = dst.data(),
                                 .alpha = layer.alpha,
                                 .output_scale = layer.output_scale,
                                 .zero_point = layer.zero_point};
  args.epilogue.template Get<SquaredRelu>().strength = layer.strength;
  const absl::StatusOr<double> milliseconds = start(*op, *filter, args);
  if (!milliseconds.ok()) return milliseconds.status();
  auto planar = weft::ConvertTensor<typename Policy::DstLayout, weft::NCHW>(
      layer.problem.dst(), absl::MakeConstSpan(dst));
  if (!planar.ok()) return planar.status();
  return Answer{*std::move(planar), *milliseconds, 1.0 - op->counts().useful};
}

template <class Start>
absl::StatusOr<Answer> Run(const Layer& layer, Kernel kernel, const Start& start) {
  return kernel == Kernel::kAnyGpu ? Run<MyConv>(layer, start) : Run<MyConvOnHopper>(layer, start);
}

}  // namespace

Layer RandomLayer(std::int64_t images) {
  constexpr std::int64_t kChannels = 64;
  Layer layer;
  layer.problem = weft::conv::SquareProblem(images, kChannels, 56, kChannels, 3, 1, 1);
  layer.src = weft::perf::RandomInt8s(images * kChannels * 56 * 56, 1);
  layer.filter = weft::perf::RandomInt8s(kChannels * kChannels * 9, 2);
  layer.bias = weft::perf::RandomFloats(kChannels, 3, -0.5f, 0.5f);
  // A product of two random int8 has the standard deviation 5461; the sums of 576 become real
  // numbers of about 1.
  layer.alpha = 1.0f / (5461.0f * 24.0f);
  layer.strength = 0.5f;
  layer.output_scale = 4.0f / 127.0f;
  return layer;
}

Answer Loops(const Layer& layer) {
  const weft::reference::EpilogueData epilogue = {.alpha = layer.alpha,
                                                  .bias = layer.bias.data(),
                                                  .output_scale = layer.output_scale,
                                                  .zero_point = layer.zero_point};
  Answer answer;
  answer.milliseconds = MillisecondsOf([&] {
    answer.dst = weft::reference::Convolve<std::int8_t>(
        layer.problem, layer.src.data(), layer.filter.data(), epilogue, SquaredRelu{layer.strength},
        weft::reference::kInt8, /*threads=*/0);
  });
  return answer;
}

absl::StatusOr<Answer> RunOnCpu(const Layer& layer, Kernel kernel) {
  return Run(layer, kernel,
             [](const auto& op, const auto&, const auto& args) -> absl::StatusOr<double> {
               absl::Status status;
               const double time = MillisecondsOf([&] { status = op.RunOnCpu(args); });
               if (!status.ok()) return status;
               return time;
             });
}

#if WEFT_DEMO_GPU

absl::StatusOr<Answer> RunOnGpu(const Layer& layer, Kernel kernel) {
  return Run(layer, kernel,
             [&](const auto& op, const auto& filter, auto args) -> absl::StatusOr<double> {
               using Op = std::remove_cvref_t<decltype(op)>;
               using Output = typename Op::Output;
               // Whether this GPU can run it; Create alone looks at the problem only.
               const auto here = Op::Create(op.problem(), weft::arch::QueryDevice().limits);
               if (!here.ok()) return here.status();
               weft::perf::DeviceBuffer src, taps, bias, dst;
               WEFT_LET(src, weft::perf::DeviceBuffer::FromBytes(args.src, op.src_bytes()));
               WEFT_LET(taps, weft::perf::DeviceBuffer::FromBytes(filter.data(), filter.bytes()));
               WEFT_LET(bias, weft::perf::DeviceBuffer::From(layer.bias));
               WEFT_LET(dst, weft::perf::DeviceBuffer::FromBytes(args.dst, op.dst_bytes()));
               void* const result = args.dst;
               args.src = src.template as<const std::int8_t>();
               args.filter = filter.At(taps.data());
               args.bias = bias.template as<const float>();
               args.dst = dst.template as<Output>();
               absl::StatusOr<double> milliseconds =
                   TimeOnGpu([&](cudaStream_t stream) { return op.Run(args, stream); });
               if (!milliseconds.ok()) return milliseconds.status();
               WEFT_TRY(dst.CopyTo(result, op.dst_bytes()));
               return milliseconds;
             });
}

#else

absl::StatusOr<Answer> RunOnGpu(const Layer&, Kernel) {
  return absl::FailedPreconditionError("this program was built without kernels for a GPU");
}

#endif

}  // namespace weft_demo
