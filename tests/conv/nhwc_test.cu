// The same tests on the GPU.
#include "tests/conv/nhwc_cases.hpp"

#include "weft/conv/instantiate.cuh"
