#include "tests/gemm/arch/wgmma_cases.hpp"  // on the CPU
