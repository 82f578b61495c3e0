// The seam between g++ code, which holds operators, and nvcc code, which holds GPU kernels.
#pragma once

#include "weft/conv/params.hpp"
#include "weft/gemm/arch/backend.hpp"
#include "weft/gemm/arch/launch_result.hpp"

namespace weft::conv {

// Launches policy P's kernel on the GPU. Defined by WEFT_INSTANTIATE_CONVOLUTION(P) in a .cu file
// (conv/instantiate.cuh; weft_add_operators() of CMake writes that file). Weak, so that a program
// without that object links, runs on the CPU, and can say what is missing.
template <class P>
[[gnu::weak]] arch::LaunchResult LaunchOnGpu(const KernelParams<P>& params, bool pointwise,
                                             arch::Dim3 grid, Stream stream);

// Whether this program holds that code.
template <class P>
bool HasGpuCode() {
  return arch::IsLinked(&LaunchOnGpu<P>);
}

}  // namespace weft::conv
