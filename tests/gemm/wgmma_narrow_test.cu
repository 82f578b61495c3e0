// The same tests on the GPU.
#include "tests/gemm/wgmma_narrow_cases.hpp"

#include "weft/gemm/instantiate.cuh"
