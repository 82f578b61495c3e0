// The CUDA driver, loaded when it is needed: a program needs neither a toolkit nor a GPU to have this.
#pragma once

#include <string>

#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

// What the driver says of the GPU that is current in the calling thread; if none is, the first one's
// primary context becomes current. FailedPrecondition, with the reason, if there is no driver, none
// that has cuLaunchKernelEx (older than CUDA 12), or no GPU.
absl::StatusOr<arch::DeviceLimits> CurrentDevice();

// The compute capability, such as 90, of the GPU that is current in the calling thread, or else of the
// first one. No context is made. The errors of CurrentDevice.
absl::StatusOr<int> ComputeCapability();

// arch::EncodeTensorMap by the driver.
arch::LaunchResult EncodeByDriver(const arch::TensorMapSpec& spec, arch::TensorMap* map);

// A kernel of a loaded cubin. It stays loaded until the program ends.
struct LoadedKernel {
  void* function = nullptr;
  int threads = 0, shared_bytes = 0;
};

// Loads kernel `entry` of a cubin into the current context. Internal if the driver refuses.
absl::StatusOr<LoadedKernel> Load(const std::string& cubin, const std::string& entry, int threads,
                                  int shared_bytes);

// Enqueues a launch.
absl::Status Enqueue(const LoadedKernel& kernel, arch::Dim3 grid, const void* params,
                     const arch::LaunchAttributes& attributes, Stream stream);

// A number of the context that is current in the calling thread; 0: none is.
const void* CurrentContext();

}  // namespace weft::rtc
