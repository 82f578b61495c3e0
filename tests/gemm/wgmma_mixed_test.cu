// The same tests on the GPU.
#include "tests/gemm/wgmma_mixed_cases.hpp"

#include "weft/gemm/instantiate.cuh"
