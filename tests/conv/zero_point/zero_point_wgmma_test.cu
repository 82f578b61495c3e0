// The same tests on the GPU.
#include "tests/conv/zero_point/zero_point_wgmma_cases.hpp"

#include "weft/conv/instantiate.cuh"
