#include "tests/conv/wgmma_cases.hpp"  // on the CPU
