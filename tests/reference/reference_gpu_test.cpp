#include "tests/reference/reference_gpu_cases.hpp"
