// The same tests on the GPU.
#include "tests/conv/table/mma_sm75_rows.hpp"

#include "weft/conv/instantiate.cuh"
