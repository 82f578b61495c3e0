// The same tests on the GPU.
#include "tests/conv/hopper/gathered_cases.hpp"
#include "weft/conv/instantiate.cuh"

WEFT_INSTANTIATE_OPERATOR(weft::conv::Gather64x64);
WEFT_INSTANTIATE_OPERATOR(weft::conv::Gather128x64PingPong);
