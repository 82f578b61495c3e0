// The same tests on the GPU.
#include "tests/conv/wgmma_turns_cases.hpp"

#include "weft/conv/instantiate.cuh"
