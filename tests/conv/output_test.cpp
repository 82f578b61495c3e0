#include "tests/conv/output_cases.hpp"  // on the CPU
