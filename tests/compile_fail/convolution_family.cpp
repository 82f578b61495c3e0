// A family where a policy is expected.
// EXPECT: static assertion failed: weft: Convolution takes one policy; weft::conv::Dispatch<Family>
// chooses among those of a family
#include "weft/conv/convolution.hpp"
#include "weft/conv/ready_made.hpp"

auto op = weft::conv::Convolution<weft::conv::S8Conv4Family<>>::Create({});
