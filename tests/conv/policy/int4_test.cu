// The same tests on the GPU.
#include "tests/conv/policy/int4_cases.hpp"

#include "weft/conv/instantiate.cuh"
