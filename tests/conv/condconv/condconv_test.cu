// The same tests on the GPU.
#include "tests/conv/condconv/condconv_cases.hpp"

#include "weft/conv/instantiate.cuh"
