// The same tests on the GPU.
#include "tests/conv/kernel/prologue_simt_cases.hpp"

#include "weft/conv/instantiate.cuh"
