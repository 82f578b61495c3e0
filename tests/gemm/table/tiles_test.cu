// The same tests on the GPU.
#define TABLE_WGMMA_TILES false
#include "tests/gemm/table/tiles_rows.hpp"

#include "weft/gemm/instantiate.cuh"
