// The same tests on the GPU.
#include "tests/gemm/gemm_sm75_cases.hpp"

#include "weft/gemm/instantiate.cuh"
