#include "tests/gemm/arch/golden_hopper_cases.hpp"  // on the CPU
