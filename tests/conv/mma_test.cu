// The same tests on the GPU.
#include "tests/conv/mma_cases.hpp"

#include "weft/conv/instantiate.cuh"
