// The same tests on the GPU.
#include "tests/gemm/gemm_complex_cases.hpp"

#include "weft/gemm/instantiate.cuh"
