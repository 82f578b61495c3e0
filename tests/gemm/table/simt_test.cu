// The same tests on the GPU.
#include "tests/gemm/table/simt_rows.hpp"

#include "weft/gemm/instantiate.cuh"
