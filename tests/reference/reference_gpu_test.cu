// The same test on the GPU.
#include "tests/reference/reference_gpu_cases.hpp"
