// The same tests on the GPU.
#include "tests/conv/wgmma_ping_pong_cases.hpp"

#include "weft/conv/instantiate.cuh"
