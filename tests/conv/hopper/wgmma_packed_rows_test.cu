// The same tests on the GPU.
#include "tests/conv/hopper/wgmma_packed_rows_cases.hpp"

#include "weft/conv/instantiate.cuh"
