// The same tests on the GPU.
#include "tests/conv/depthwise/depthwise_cases.hpp"

#include "weft/conv/instantiate.cuh"
