// Launching a kernel on the GPU.
#pragma once

#if !defined(__CUDACC__)
#error "cuda_launch.cuh needs nvcc: include it from .cu files only"
#endif

#include <cuda_runtime.h>

#include <type_traits>

#include "weft/gemm/arch/cuda_entry.cuh"
#include "weft/gemm/arch/isa/launch_result.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

static_assert(std::is_same_v<Stream, cudaStream_t>, "arch: weft::Stream is cudaStream_t");

// Raises the kernel's limit of shared memory to `most_shared_bytes`, the most that any of its launches needs, or as far
// as the device goes.
[[gnu::visibility("hidden")]] inline cudaError_t RaiseSharedLimit(const void* entry,
                                                                  int most_shared_bytes) {
  int device = 0, limit = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  }
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              most_shared_bytes < limit ? most_shared_bytes : limit);
}

// The part of LaunchOnCuda that does not depend on the kernel's type.
[[gnu::visibility("hidden")]] inline cudaError_t LaunchEntry(const void* entry, Dim3 grid,
                                                             int threads, int shared_bytes,
                                                             int most_shared_bytes,
                                                             void** arguments, Stream stream,
                                                             const LaunchAttributes& attributes) {
  // Beyond 48 KB of shared memory CUDA wants the kernel's limit raised first. That is a host-side
  // attribute of (kernel, device), which the threads of a program share: each launch sets the same
  // value, whatever it needs itself, so that none takes from another what that has just asked for.
  // Setting it needs no stream, so capture does not mind, and no synchronisation, so it is set each
  // time instead of remembering devices in a global.
  constexpr int kUnrestrictedSharedBytes = 48 * 1024;
  cudaError_t error = cudaSuccess;
  if (shared_bytes > kUnrestrictedSharedBytes) error = RaiseSharedLimit(entry, most_shared_bytes);
  const Dim3 cluster = attributes.cluster;
  const int cluster_blocks = cluster.x * cluster.y * cluster.z;
  constexpr int kPortableClusterBlocks = 8;
  if (error == cudaSuccess && cluster_blocks > kPortableClusterBlocks) {
    error = cudaFuncSetAttribute(entry, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  cudaLaunchAttribute list[2];
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(grid.x, grid.y, grid.z);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = list;
  if (cluster_blocks > 1) {
    cudaLaunchAttribute& attribute = list[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
  }
  if (error == cudaSuccess && attributes.dependent) {
    // Code without griddepcontrol (PTX of 80 on a newer GPU, say) would not wait for anybody.
    cudaFuncAttributes compiled = {};
    error = cudaFuncGetAttributes(&compiled, entry);
    if (compiled.ptxVersion >= 90) {
      cudaLaunchAttribute& attribute = list[config.numAttrs++];
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
    }
  }
  if (error != cudaSuccess) return error;
  return cudaLaunchKernelExC(&config, entry, arguments);
}

// Enqueues the kernel on `stream` and returns at once. Allocates and synchronises nothing and is
// legal while the stream is being captured into a graph. `grid` is in blocks (x up to 2^31 - 1, y
// and z up to 65535).
template <class Kernel>
[[gnu::visibility("hidden")]] LaunchResult LaunchOnCuda(Dim3 grid,
                                                        const typename Kernel::Params& params,
                                                        Stream stream,
                                                        const LaunchAttributes& attributes = {}) {
  static_assert(CheckedKernel<Kernel>::kOk);
  void* arguments[] = {const_cast<typename Kernel::Params*>(&params)};
  const cudaError_t error = LaunchEntry(reinterpret_cast<const void*>(&Entry<Kernel>), grid,
                                        Kernel::kThreads, SharedBytes<Kernel>(attributes),
                                        SharedBytes<Kernel>({}), arguments, stream, attributes);
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();  // a failed launch must not surface again in the caller's next call
  return {LaunchCode::kCudaError, static_cast<int>(error), cudaGetErrorString(error)};
}

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
