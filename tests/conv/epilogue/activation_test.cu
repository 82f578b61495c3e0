// The same tests on the GPU.
#include "tests/conv/epilogue/activation_cases.hpp"

#include "weft/conv/instantiate.cuh"
