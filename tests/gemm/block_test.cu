// The same on the GPU.
#include "tests/gemm/block_cases.hpp"
