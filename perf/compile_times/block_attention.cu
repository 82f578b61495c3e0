#include "examples/block_gemm/attention.hpp"
#include "weft/gemm/arch/cuda_launch.cuh"

weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid,
                                     const AttentionParams<Mainloop::kWgmmaSm90>& params) {
  return weft::arch::LaunchOnCuda<AttentionKernel<Mainloop::kWgmmaSm90>>(grid, params, nullptr);
}
