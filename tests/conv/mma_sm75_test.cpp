#include "tests/conv/mma_sm75_cases.hpp"  // on the CPU
