#include "tests/gemm/arch/ring_gemm_cases.hpp"  // on the CPU
