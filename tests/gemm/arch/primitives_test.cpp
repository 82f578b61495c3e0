#include "tests/gemm/arch/primitives_cases.hpp"  // on the CPU
