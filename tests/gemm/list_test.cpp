#include "tests/gemm/list_cases.hpp"  // on the CPU
