// The same tests on the GPU.
#include "tests/gemm/table/wgmma_sm90_upcast_rows.hpp"

#include "weft/gemm/instantiate.cuh"
