#include "tests/gemm/batch_cases.hpp"  // on the CPU
