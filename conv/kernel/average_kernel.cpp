#include "weft/conv/kernel/average_kernel.hpp"

#include "weft/gemm/launch/launch.hpp"

WEFT_INSTANTIATE_ON_CPU(weft::conv::AverageSums);
