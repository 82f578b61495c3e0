// The same tests on the GPU.
#include "tests/conv/table/rows/simt_rows.hpp"

#include "weft/conv/instantiate.cuh"
