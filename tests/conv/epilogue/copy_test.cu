// The same tests on the GPU.
#include "tests/conv/epilogue/copy_cases.hpp"

#include "weft/conv/instantiate.cuh"
