// The same tests on the GPU.
#include "tests/gemm/wgmma_gemm_cases.hpp"

#include "weft/gemm/instantiate.cuh"
