#include "tests/conv/mma_cases.hpp"  // on the CPU
