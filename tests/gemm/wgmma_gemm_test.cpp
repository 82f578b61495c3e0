#include "tests/gemm/wgmma_gemm_cases.hpp"  // on the CPU
