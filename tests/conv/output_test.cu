// The same tests on the GPU.
#include "tests/conv/output_cases.hpp"

#include "weft/conv/instantiate.cuh"
