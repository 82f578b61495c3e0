#include "tests/conv/hopper/wgmma_cases.hpp"  // on the CPU
