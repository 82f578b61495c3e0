// Compiles the GPU kernels of one matrix product.
//
//     #include "weft/gemm/instantiate.cuh"
//     #include "my_operators.hpp"
//     WEFT_INSTANTIATE_OPERATOR(MyGemm);
#pragma once

#include "weft/gemm/gemm_kernels.hpp"
#include "weft/gemm/instantiate_operator.cuh"
