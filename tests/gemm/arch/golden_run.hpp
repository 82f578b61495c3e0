// Which machine a golden file is from.
#pragma once

#include <cctype>
#include <fstream>
#include <string>

#include "tests/gemm/arch/golden_file.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>

namespace weft::arch::testing {

// The version in the kernel module's own words: ... Kernel Module for x86_64  575.57.08  Release
// ...
inline std::string DriverVersion() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    if (std::isdigit(static_cast<unsigned char>(word[0])) && word.find('.') != word.npos) {
      return word;
    }
  }
  return "unknown";
}

// A file without its vectors.
inline GoldenFile DescribeMachine() {
  GoldenFile golden;
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) return golden;
  golden.device = std::string(device.name) + ", compute capability " +
                  std::to_string(device.major) + "." + std::to_string(device.minor);
  golden.driver = DriverVersion();
  return golden;
}

}  // namespace weft::arch::testing

#endif
