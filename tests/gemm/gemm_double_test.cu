// The same tests on the GPU.
#include "tests/gemm/gemm_double_cases.hpp"

#include "weft/gemm/instantiate.cuh"
