// The same tests on the GPU.
#include "tests/conv/problems_cases.hpp"

#include "weft/conv/instantiate.cuh"
