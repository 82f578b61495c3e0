// The same on the GPU.
#include "tests/gemm/block/wgmma_cases.hpp"
