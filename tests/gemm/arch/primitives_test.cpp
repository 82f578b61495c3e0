#include "tests/gemm/arch/fragments_cases.hpp"   // on the CPU
#include "tests/gemm/arch/primitives_cases.hpp"  // on the CPU
