// The same tests on the GPU.
#include "tests/conv/layouts_cases.hpp"

#include "weft/conv/instantiate.cuh"
