// The same tests on the GPU.
#include "tests/conv/mma_sm75_cases.hpp"

#include "weft/conv/instantiate.cuh"
