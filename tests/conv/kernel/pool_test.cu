// The same tests on the GPU.
#include "tests/conv/kernel/pool_cases.hpp"

#include "weft/conv/instantiate.cuh"
