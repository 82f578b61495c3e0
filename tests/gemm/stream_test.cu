// The same tests on the GPU.
#include "tests/gemm/stream_cases.hpp"

#include "weft/gemm/instantiate.cuh"
