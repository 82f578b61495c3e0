// The same tests on the GPU.
#include "tests/conv/prologue_mma_cases.hpp"

#include "weft/conv/instantiate.cuh"
