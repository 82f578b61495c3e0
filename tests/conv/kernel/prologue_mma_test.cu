// The same tests on the GPU.
#include "tests/conv/kernel/prologue_mma_cases.hpp"

#include "weft/conv/instantiate.cuh"
