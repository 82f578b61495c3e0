// The same tests on the GPU.
#include "tests/conv/ready_made_fused_cases.hpp"

#include "weft/conv/instantiate.cuh"
