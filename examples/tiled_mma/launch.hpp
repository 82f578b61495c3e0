// The kernel of tiled_mma.cpp on the GPU; defined where there is CUDA (launch.cu).
#pragma once

#include "examples/tiled_mma/product.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"

weft::arch::LaunchResult LaunchOnGpu(weft::arch::Dim3 grid, const ProductParams& params);
