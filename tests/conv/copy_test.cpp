#include "tests/conv/copy_cases.hpp"  // on the CPU
