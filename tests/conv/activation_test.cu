// The same tests on the GPU.
#include "tests/conv/activation_cases.hpp"

#include "weft/conv/instantiate.cuh"
