#include "examples/block_gemm/launch.hpp"

#include "weft/gemm/arch/cuda_launch.cuh"

weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid,
                                     const AttentionParams<Mainloop::kMmaSm80>& params) {
  return weft::arch::LaunchOnCuda<AttentionKernel<Mainloop::kMmaSm80>>(grid, params,
                                                                       /*stream=*/nullptr);
}
weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid,
                                     const AttentionParams<Mainloop::kWgmmaSm90>& params) {
  return weft::arch::LaunchOnCuda<AttentionKernel<Mainloop::kWgmmaSm90>>(grid, params,
                                                                         /*stream=*/nullptr);
}
weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid, const NearestParams& params) {
  return weft::arch::LaunchOnCuda<NearestKernel>(grid, params, /*stream=*/nullptr);
}
weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid, const NewtonParams& params) {
  return weft::arch::LaunchOnCuda<NewtonKernel>(grid, params, /*stream=*/nullptr);
}
