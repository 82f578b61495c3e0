// The same on the GPU.
#include "tests/gemm/arch/ring_gemm_cases.hpp"
