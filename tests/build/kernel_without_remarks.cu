// A kernel of wgmma_sm90, of which ptxas has nothing to say: no fence is missing that it would add (C7519).
#include "weft/conv/instantiate.cuh"
#include "weft/conv/ready_made.hpp"

using Policy =
    weft::conv::S8Conv32<weft::epilogues::BiasRelu<>, weft::NCxHWx<32>, weft::conv::Wgmma64x64>;
WEFT_INSTANTIATE_OPERATOR(Policy);
