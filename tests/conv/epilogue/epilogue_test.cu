// The same tests on the GPU.
#include "tests/conv/epilogue/epilogue_cases.hpp"

#include "weft/conv/instantiate.cuh"
