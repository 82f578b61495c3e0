// The same on the GPU.
#include "tests/gemm/tiled_cases.hpp"
