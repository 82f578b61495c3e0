// The same tests on the GPU.
#include "tests/conv/porting_cases.hpp"

#include "weft/conv/instantiate.cuh"
