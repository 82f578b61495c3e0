#include "tests/conv/wgmma_stack_cases.hpp"  // on the CPU
