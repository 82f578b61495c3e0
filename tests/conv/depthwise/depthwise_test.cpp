#include "tests/conv/depthwise/depthwise_cases.hpp"  // on the CPU
