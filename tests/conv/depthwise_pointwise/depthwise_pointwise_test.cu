// The same tests on the GPU.
#include "tests/conv/depthwise_pointwise/depthwise_pointwise_cases.hpp"

#include "weft/conv/instantiate.cuh"
