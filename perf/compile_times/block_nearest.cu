#include "examples/block_gemm/nearest.hpp"
#include "weft/gemm/arch/cuda_launch.cuh"

weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid, const NearestParams& params) {
  return weft::arch::LaunchOnCuda<NearestKernel>(grid, params, nullptr);
}
