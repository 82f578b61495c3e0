#include "tests/gemm/wgmma_narrow_cases.hpp"  // on the CPU
