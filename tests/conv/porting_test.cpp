#include "tests/conv/porting_cases.hpp"  // on the CPU
