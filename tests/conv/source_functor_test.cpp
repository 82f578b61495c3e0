#include "tests/conv/source_functor_cases.hpp"  // on the CPU
