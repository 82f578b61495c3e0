// What a kernel launch on the GPU came back with. Plain data, so that object files made by nvcc and
// by g++ can exchange it.
#pragma once

#include "weft/layouts/base/compiler.hpp"

namespace weft::arch {

enum class LaunchCode {
  kOk,
  kCudaError,  // the CUDA runtime refused: see cuda_error and message
  kNoKernel,   // the object that nvcc made has no such kernel: see message
};

struct LaunchResult {
  LaunchCode code = LaunchCode::kOk;
  int cuda_error = 0;        // a cudaError_t; 0 unless code is kCudaError
  const char* message = "";  // static storage: what is wrong, or CUDA's description of cuda_error

  bool ok() const { return code == LaunchCode::kOk; }
};

// Whether a [[gnu::weak]] function is part of this program. GCC folds `&function == nullptr` to
// false before it looks at the attribute, so the address takes a detour.
template <class Function>
inline bool IsLinked(Function* function) {
  Function* volatile address = function;
  return address != nullptr;
}

}  // namespace weft::arch
