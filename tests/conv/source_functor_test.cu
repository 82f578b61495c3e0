// The same tests on the GPU.
#include "tests/conv/source_functor_cases.hpp"

#include "weft/conv/instantiate.cuh"
