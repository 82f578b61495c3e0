#include "tests/gemm/gemm_cases.hpp"  // on the CPU
