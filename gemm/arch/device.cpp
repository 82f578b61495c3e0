#include "weft/gemm/arch/device.hpp"

#if defined(WEFT_HAVE_CUDA)
#include <cuda_runtime_api.h>
#endif

namespace weft::arch {

#if defined(WEFT_HAVE_CUDA)

namespace {

// CUDA calls a missing driver too old.
const char* Words(cudaError_t error) {
  int driver = 0;
  if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
      driver == 0) {
    return "there is no NVIDIA driver";
  }
  return cudaGetErrorString(error);
}

}  // namespace

// Attribute by attribute: cudaGetDeviceProperties asks the driver for many more and takes
// milliseconds.
DeviceQuery QueryDevice() {
  DeviceQuery query;
  DeviceLimits& limits = query.limits;
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  const auto read = [&](cudaDeviceAttr attribute) {
    int value = 0;
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&value, attribute, device);
    return value;
  };
  limits.compute_capability =
      read(cudaDevAttrComputeCapabilityMajor) * 10 + read(cudaDevAttrComputeCapabilityMinor);
  limits.sm_count = read(cudaDevAttrMultiProcessorCount);
  limits.shared_memory_per_block = read(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  limits.shared_memory_per_sm = read(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  limits.registers_per_sm = read(cudaDevAttrMaxRegistersPerMultiprocessor);
  limits.max_threads_per_sm = read(cudaDevAttrMaxThreadsPerMultiProcessor);
  limits.l2_bytes = read(cudaDevAttrL2CacheSize);
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    query.result = {LaunchCode::kCudaError, static_cast<int>(error), Words(error)};
  }
  return query;
}

std::string DeviceName() {
  int device = 0;
  cudaDeviceProp properties;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return "";
  }
  return properties.name;
}

#else

DeviceQuery QueryDevice() {
  constexpr int kCudaErrorNoDevice = 100;
  DeviceQuery query;
  query.result = {LaunchCode::kCudaError, kCudaErrorNoDevice,
                  "Weft was built without CUDA, so there is no device"};
  return query;
}

std::string DeviceName() {
  return "";
}

#endif

}  // namespace weft::arch
