// The same tests on the GPU.
#include "tests/gemm/buffer_cases.hpp"

#include "weft/gemm/instantiate.cuh"
