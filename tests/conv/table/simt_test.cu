// The same tests on the GPU.
#include "tests/conv/table/simt_rows.hpp"

#include "weft/conv/instantiate.cuh"
