// The same tests on the GPU.
#include "tests/conv/deconvolution/deconvolution_cases.hpp"

#include "weft/conv/instantiate.cuh"
