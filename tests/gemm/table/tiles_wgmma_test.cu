// The same tests on the GPU.
#define TABLE_WGMMA_TILES true
#include "tests/gemm/table/tiles_rows.hpp"

#include "weft/gemm/instantiate.cuh"
