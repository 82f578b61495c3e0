#include "tests/gemm/wgmma_mixed_cases.hpp"  // on the CPU
