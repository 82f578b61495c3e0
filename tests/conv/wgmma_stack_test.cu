// The same tests on the GPU.
#include "tests/conv/wgmma_stack_cases.hpp"

#include "weft/conv/instantiate.cuh"
