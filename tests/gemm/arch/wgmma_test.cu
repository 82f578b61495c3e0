// The same on the GPU, and the way to make the golden files.
#include "tests/gemm/arch/golden_wgmma_cases.hpp"
#include "tests/gemm/arch/wgmma_cases.hpp"
