// The same tests on the GPU.
#include "tests/gemm/table/mma_sm80_loads_rows.hpp"

#include "weft/gemm/instantiate.cuh"
