// The same tests on the GPU.
#include "tests/conv/epilogue/output_cases.hpp"

#include "weft/conv/instantiate.cuh"
