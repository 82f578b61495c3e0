// The same tests on the GPU.
#include "tests/gemm/table/tiles_rows.hpp"

#include "weft/gemm/instantiate.cuh"
