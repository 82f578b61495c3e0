#include "tests/conv/activation_cases.hpp"  // on the CPU
