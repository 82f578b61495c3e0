// The steps on the GPU; defined where there is CUDA (launch.cu).
#pragma once
#include "examples/ladder/product.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"

namespace ladder {

// Enqueues step number `step`, from 0.
weft::arch::LaunchResult LaunchOnGpu(int step, const Product& product, weft::Stream stream);

}  // namespace ladder
