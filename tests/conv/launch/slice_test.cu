// The same tests on the GPU.
#include "tests/conv/launch/slice_cases.hpp"

#include "weft/conv/instantiate.cuh"
