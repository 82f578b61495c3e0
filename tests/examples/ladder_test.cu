// The same on the GPU.
#include "tests/examples/ladder_cases.hpp"
