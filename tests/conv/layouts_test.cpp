#include "tests/conv/layouts_cases.hpp"  // on the CPU
