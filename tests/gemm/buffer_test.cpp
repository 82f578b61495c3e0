#include "tests/gemm/buffer_cases.hpp"  // on the CPU
