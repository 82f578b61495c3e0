// The same on the GPU, and the way to make the files.
#include "tests/gemm/arch/golden_hopper_cases.hpp"
