// Memory of the GPU at hand, for host code. A build without CUDA refuses every call with a sentence.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"

namespace weft::arch {

// LaunchResult::cuda_error where the GPU has too little memory: cudaErrorMemoryAllocation.
inline constexpr int kOutOfDeviceMemory = 2;

// *memory becomes the address of `bytes` zeros on the device that is current in the calling thread,
// aligned to 256 bytes. `bytes` is at least 1.
LaunchResult AllocateOnDevice(std::int64_t bytes, void** memory);

// Frees what AllocateOnDevice returned, after all work that was enqueued on its device has ended.
void FreeOnDevice(void* memory);

// Copies between the host and the device in either direction, after the work that was enqueued on
// `stream` before, and returns when the copy has been made.
LaunchResult CopyOnStream(void* to, const void* from, std::int64_t bytes, Stream stream);

}  // namespace weft::arch
