// The same on the GPU.
#include "tests/gemm/arch/hopper_cases.hpp"
