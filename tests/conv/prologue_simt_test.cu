// The same tests on the GPU.
#include "tests/conv/prologue_simt_cases.hpp"

#include "weft/conv/instantiate.cuh"
