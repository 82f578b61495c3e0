#include "tests/gemm/arch/hopper_cases.hpp"  // on the CPU
