// The same tests on the GPU.
#include "tests/gemm/gemm_half_sum_cases.hpp"

#include "weft/gemm/instantiate.cuh"
