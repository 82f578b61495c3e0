// The same on the GPU, and the way to make the golden files.
#include "tests/gemm/arch/golden_hopper_cases.hpp"
#include "tests/gemm/arch/hopper_cases.hpp"
