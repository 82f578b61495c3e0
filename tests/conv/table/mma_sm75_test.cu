// The same tests on the GPU.
#include "tests/conv/table/rows/mma_sm75_rows.hpp"

#include "weft/conv/instantiate.cuh"
