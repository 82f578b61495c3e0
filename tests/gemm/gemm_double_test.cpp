#include "tests/gemm/gemm_double_cases.hpp"  // on the CPU
