// The same tests on the GPU.
#include "tests/gemm/gemm_mixed_cases.hpp"

#include "weft/gemm/instantiate.cuh"
