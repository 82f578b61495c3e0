#include "tests/gemm/gemm_types_cases.hpp"  // on the CPU
