// The same on the GPU.
#include "tests/gemm/block_wgmma_cases.hpp"
