#include "tests/gemm/gemm_cases.hpp"  // on the CPU

#include "tests/gemm/buffer_cases.hpp"
