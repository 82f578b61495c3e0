#include "tests/conv/hopper/gathered_cases.hpp"  // on the CPU
