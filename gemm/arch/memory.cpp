#include "weft/gemm/arch/memory.hpp"

#if defined(WEFT_HAVE_CUDA)
#include <cuda_runtime_api.h>
#endif

namespace weft::arch {

#if defined(WEFT_HAVE_CUDA)

namespace {

// The error is also taken out of CUDA's "last error", where a later launch would find it.
LaunchResult ResultOf(cudaError_t error) {
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();
  return {LaunchCode::kCudaError, static_cast<int>(error), cudaGetErrorString(error)};
}

}  // namespace

static_assert(kOutOfDeviceMemory == static_cast<int>(cudaErrorMemoryAllocation));

LaunchResult AllocateOnDevice(std::int64_t bytes, void** memory) {
  *memory = nullptr;
  cudaError_t error = cudaMalloc(memory, static_cast<std::size_t>(bytes));
  if (error != cudaSuccess) return ResultOf(error);
  error = cudaMemset(*memory, 0, static_cast<std::size_t>(bytes));
  // Streams that do not wait for the default stream find zeros, too.
  if (error == cudaSuccess) error = cudaStreamSynchronize(nullptr);
  if (error != cudaSuccess) {
    FreeOnDevice(*memory);
    *memory = nullptr;
  }
  return ResultOf(error);
}

void FreeOnDevice(void* memory) {
  (void)ResultOf(cudaFree(memory));
}

LaunchResult CopyOnStream(void* to, const void* from, std::int64_t bytes, Stream stream) {
  const cudaError_t error =
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream);
  return ResultOf(error != cudaSuccess ? error : cudaStreamSynchronize(stream));
}

#else

namespace {

LaunchResult NoCuda() {
  constexpr int kCudaErrorNoDevice = 100;
  return {LaunchCode::kCudaError, kCudaErrorNoDevice,
          "Weft was built without CUDA, so there is no device"};
}

}  // namespace

LaunchResult AllocateOnDevice(std::int64_t, void** memory) {
  *memory = nullptr;
  return NoCuda();
}

void FreeOnDevice(void*) {}

LaunchResult CopyOnStream(void*, const void*, std::int64_t, Stream) {
  return NoCuda();
}

#endif

}  // namespace weft::arch
