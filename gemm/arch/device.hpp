// What the GPU at hand can do. Usable from g++ code; a build without CUDA knows no device.
#pragma once

#include <cstdint>
#include <string>

#include "weft/gemm/arch/isa/launch_result.hpp"

namespace weft::arch {

struct DeviceLimits {
  int compute_capability = 0;       // major * 10 + minor: 75, 80, 86, 90, ...
  int sm_count = 0;                 // multiprocessors
  int shared_memory_per_block = 0;  // most that one block can ask for (opt-in), in bytes
  int shared_memory_per_sm = 0;     // in bytes, what resident blocks share
  int registers_per_sm = 0;         // 32-bit registers
  int max_threads_per_sm = 0;
  std::int64_t l2_bytes = 0;
};

struct DeviceQuery {
  LaunchResult result;  // not ok: there is no usable device; message says why
  DeviceLimits limits;  // meaningful if result is ok
};

// The device that is current in the calling thread.
DeviceQuery QueryDevice();

// Its name, such as "NVIDIA H200"; empty if there is no device. Takes milliseconds.
std::string DeviceName();

}  // namespace weft::arch
