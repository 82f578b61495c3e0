// The same tests on the GPU.
#include "tests/gemm/batch_cases.hpp"

#include "weft/gemm/instantiate.cuh"
