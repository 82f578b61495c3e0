#include "examples/block_gemm/launch.hpp"

#include "weft/gemm/arch/cuda_launch.cuh"

weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid, const AttentionParams& params) {
  return weft::arch::LaunchOnCuda<AttentionKernel>(grid, params, /*stream=*/nullptr);
}
weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid, const NearestParams& params) {
  return weft::arch::LaunchOnCuda<NearestKernel>(grid, params, /*stream=*/nullptr);
}
weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid, const NewtonParams& params) {
  return weft::arch::LaunchOnCuda<NewtonKernel>(grid, params, /*stream=*/nullptr);
}
