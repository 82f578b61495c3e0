// The same tests on the GPU.
#include "tests/conv/depthwise_pointwise/ready_made_fused_cases.hpp"

#include "weft/conv/instantiate.cuh"
