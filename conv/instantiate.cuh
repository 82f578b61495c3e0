// Compiles the GPU kernels of one convolution.
//
//     #include "weft/conv/instantiate.cuh"
//     #include "my_operators.hpp"
//     WEFT_INSTANTIATE_OPERATOR(MyConv);
#pragma once

#include "weft/conv/bottleneck/bottleneck_kernel.hpp"
#include "weft/conv/depthwise_pointwise/depthwise_pointwise_kernel.hpp"
#include "weft/conv/kernel/kernels.hpp"
#include "weft/gemm/launch/instantiate_operator.cuh"
