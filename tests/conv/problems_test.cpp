#include "tests/conv/problems_cases.hpp"  // on the CPU
