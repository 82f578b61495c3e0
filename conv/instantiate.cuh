// Compiles the GPU kernels of one operator.
//
//     #include "weft/conv/instantiate.cuh"
//     #include "my_operators.hpp"
//     WEFT_INSTANTIATE_CONVOLUTION(MyConv);
#pragma once

#include "weft/conv/kernels.hpp"
#include "weft/conv/launch.hpp"
#include "weft/epilogues/device_check.cuh"
#include "weft/gemm/arch/cuda_launch.cuh"

namespace weft::conv {

template <class P>
arch::LaunchResult LaunchOnGpu(const KernelParams<P>& params, bool pointwise, arch::Dim3 grid,
                               Stream stream) {
  return pointwise ? arch::LaunchOnCuda<Kernel<P, true>>(grid, params, stream)
                   : arch::LaunchOnCuda<Kernel<P, false>>(grid, params, stream);
}

}  // namespace weft::conv

#define WEFT_INSTANTIATE_CONVOLUTION(...)                                         \
  template __device__ void weft::epilogues::CheckEpilogueOnDevice<__VA_ARGS__>(); \
  template weft::arch::LaunchResult weft::conv::LaunchOnGpu<__VA_ARGS__>(         \
      const weft::conv::KernelParams<__VA_ARGS__>&, bool, weft::arch::Dim3, weft::Stream)
