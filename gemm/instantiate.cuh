// Compiles the GPU kernel of one matrix product.
//
//     #include "weft/gemm/instantiate.cuh"
//     #include "my_operators.hpp"
//     WEFT_INSTANTIATE_GEMM(MyGemm);
#pragma once

#include "weft/epilogues/device_check.cuh"
#include "weft/gemm/arch/cuda_launch.cuh"
#include "weft/gemm/gemm_kernels.hpp"

namespace weft::gemm {

template <class P>
arch::LaunchResult LaunchGemmOnGpu(const GemmParams<P>& params, arch::Dim3 grid, Stream stream) {
  return arch::LaunchOnCuda<GemmKernel<P>>(grid, params, stream);
}

}  // namespace weft::gemm

#define WEFT_INSTANTIATE_GEMM(...)                                                \
  template __device__ void weft::epilogues::CheckEpilogueOnDevice<__VA_ARGS__>(); \
  template weft::arch::LaunchResult weft::gemm::LaunchGemmOnGpu<__VA_ARGS__>(     \
      const weft::gemm::GemmParams<__VA_ARGS__>&, weft::arch::Dim3, weft::Stream)
