// The same on the GPU.
#include "tests/gemm/arch/wgmma_cases.hpp"
