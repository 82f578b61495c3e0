// The kernels of block_gemm.cpp on the GPU; defined where there is CUDA (launch.cu).
#pragma once

#include "examples/block_gemm/attention.hpp"
#include "examples/block_gemm/nearest.hpp"
#include "examples/block_gemm/newton.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"

weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid,
                                     const AttentionParams<Mainloop::kMmaSm80>& params);
weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid,
                                     const AttentionParams<Mainloop::kWgmmaSm90>& params);
weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid, const NearestParams& params);
weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid, const NewtonParams& params);
