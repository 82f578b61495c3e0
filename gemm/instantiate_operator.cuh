// Compiles the GPU kernels of one operator; included by conv/instantiate.cuh and
// gemm/instantiate.cuh, which know the kernels.
#pragma once

#include "weft/epilogues/device_check.cuh"
#include "weft/gemm/arch/cuda_launch.cuh"
#include "weft/gemm/kernel_list.hpp"

namespace weft::gemm {

// Compiled, never called: nvcc refuses a user's functor that has no device code only where device
// code calls it directly.
template <class P>
__device__ void CheckFunctorsOnDevice() {
  epilogues::CheckEpilogueOnDevice<P>();
  if constexpr (requires { typename P::Prologue; }) {
    const typename P::Prologue prologue{};
    (void)prologue.Filter({});
  }
}

template <class P>
arch::LaunchResult LaunchOnGpu(int index, const void* params, arch::Dim3 grid, Stream stream,
                               const arch::LaunchAttributes& attributes) {
  arch::LaunchResult result;
  VisitKernel<P>(index, [&]<class Kernel>() {
    arch::LaunchAttributes own = attributes;
    own.dependent = own.dependent && Kernel::kDependent;
    result = arch::LaunchOnCuda<Kernel>(grid, *static_cast<const typename Kernel::Params*>(params),
                                        stream, own);
  });
  return result;
}

}  // namespace weft::gemm

#define WEFT_INSTANTIATE_OPERATOR(...)                                       \
  template __device__ void weft::gemm::CheckFunctorsOnDevice<__VA_ARGS__>(); \
  template weft::arch::LaunchResult weft::gemm::LaunchOnGpu<__VA_ARGS__>(    \
      int, const void*, weft::arch::Dim3, weft::Stream, const weft::arch::LaunchAttributes&)
