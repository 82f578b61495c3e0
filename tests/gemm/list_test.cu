// The same tests on the GPU.
#include "tests/gemm/list_cases.hpp"

#include "weft/gemm/instantiate.cuh"
