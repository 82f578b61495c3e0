// Compiles the GPU kernels of one matrix product.
//
//     #include "weft/gemm/instantiate.cuh"
//     #include "my_operators.hpp"
//     WEFT_INSTANTIATE_OPERATOR(MyGemm);
#pragma once

#include "weft/gemm/launch/instantiate_operator.cuh"
#include "weft/gemm/product/gemm_kernels.hpp"
