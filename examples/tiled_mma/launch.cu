#include "examples/tiled_mma/launch.hpp"

#include "weft/gemm/arch/cuda_launch.cuh"

weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid, const ProductParams& params) {
  return weft::arch::LaunchOnCuda<ProductKernel>(grid, params, /*stream=*/nullptr);
}
