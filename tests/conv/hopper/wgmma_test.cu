// The same tests on the GPU.
#include "tests/conv/hopper/wgmma_cases.hpp"

#include "weft/conv/instantiate.cuh"
