// The same tests on the GPU.
#include "tests/conv/pool_cases.hpp"

#include "weft/conv/instantiate.cuh"
