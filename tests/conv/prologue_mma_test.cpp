#include "tests/conv/prologue_mma_cases.hpp"  // on the CPU
