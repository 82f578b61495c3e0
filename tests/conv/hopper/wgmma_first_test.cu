// The same tests on the GPU.
#include "tests/conv/hopper/wgmma_first_cases.hpp"

#include "weft/conv/instantiate.cuh"
