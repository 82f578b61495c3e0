// The same tests on the GPU.
#include "tests/conv/table/rows/wgmma_sm90_rows.hpp"

#include "weft/conv/instantiate.cuh"
