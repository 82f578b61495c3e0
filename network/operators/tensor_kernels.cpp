#include "weft/network/operators/tensor_kernels.hpp"

#include "weft/gemm/launch/launch.hpp"

WEFT_INSTANTIATE_ON_CPU(weft::network::TensorKernels);
