#include "tests/gemm/arch/golden_cases.hpp"  // on the CPU
