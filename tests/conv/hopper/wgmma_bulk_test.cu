// The same tests on the GPU.
#include "tests/conv/hopper/wgmma_bulk_cases.hpp"

#include "weft/conv/instantiate.cuh"
