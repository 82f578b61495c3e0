#include "perf/network/gpu.hpp"

#if WEFT_HAVE_CUDA

#include "absl/strings/str_cat.h"
#include "tests/reference/reference_gpu.hpp"

namespace weft::perf {

absl::StatusOr<void*> DeviceMemory::Allocate(std::int64_t bytes) {
  absl::StatusOr<DeviceBuffer> buffer = DeviceBuffer::Create(bytes);
  if (!buffer.ok()) return buffer.status();
  buffers_.push_back(*std::move(buffer));
  return buffers_.back().data();
}

absl::Status DeviceMemory::Write(void* to, const void* from, std::int64_t bytes) {
  absl::Status s = CudaStatus(cudaDeviceSynchronize(), "before a copy to the GPU");
  if (s.ok()) s = CudaStatus(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  return s;
}

absl::Status DeviceMemory::Read(void* to, const void* from, std::int64_t bytes) {
  absl::Status s = CudaStatus(cudaDeviceSynchronize(), "before a copy to the host");
  if (s.ok()) s = CudaStatus(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return s;
}

absl::StatusOr<std::vector<std::int8_t>> ReferenceOnGpu(const ReferenceLayer& layer) {
  DeviceMemory memory;
  absl::Status s;
  const auto upload = [&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    T* address = nullptr;
    if (!s.ok()) return address;
    const absl::StatusOr<void*> place = memory.Allocate(bytes);
    s = place.status();
    if (s.ok()) s = memory.Write(*place, values.data(), bytes);
    if (s.ok()) address = static_cast<T*>(*place);
    return address;
  };
  const std::int64_t outputs = NCHW::Size(layer.problem.dst());
  std::vector<std::int8_t> result(outputs);
  const std::int8_t* const src = upload(layer.src);
  const std::int8_t* const filter = upload(layer.parameters->filter);
  reference::EpilogueData e;
  e.channel_alpha = upload(layer.parameters->channel_alpha);
  e.bias = upload(layer.parameters->bias);
  if (layer.after == After::kResidualRelu) {
    e.residual = upload(layer.residual);
    e.gamma = kNetworkGamma;
  }
  std::int8_t* const dst = upload(result);
  if (!s.ok()) return s;
  const auto run = [&](auto activation) {
    reference::ConvolveParams<decltype(activation)> params;
    params.problem = layer.problem;
    params.src = src;
    params.filter = filter;
    params.epilogue = e;
    params.dst = dst;
    return reference::ConvolveOnGpu(params, nullptr);
  };
  const arch::LaunchResult launched = layer.after == After::kNothing
                                          ? run(reference::NoActivation{})
                                          : run(reference::ReluActivation{});
  if (!launched.ok()) return absl::InternalError(absl::StrCat("reference: ", launched.message));
  if (s = memory.Read(result.data(), dst, outputs); !s.ok()) return s;
  return result;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
