// The same on the GPU.
#include "tests/gemm/block/mma_cases.hpp"
