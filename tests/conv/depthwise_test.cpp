#include "tests/conv/depthwise_cases.hpp"  // on the CPU
