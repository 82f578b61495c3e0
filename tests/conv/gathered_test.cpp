#include "tests/conv/gathered_cases.hpp"  // on the CPU
