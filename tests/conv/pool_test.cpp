#include "tests/conv/pool_cases.hpp"  // on the CPU
