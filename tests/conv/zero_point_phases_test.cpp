#include "tests/conv/zero_point_phases_cases.hpp"  // on the CPU
