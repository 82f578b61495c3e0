// The sums that a FilterZeroPoint reads would be an int32 for each output of a depthwise convolution.
// EXPECT: static assertion failed: weft: depthwise convolutions have no FilterZeroPoint
// MAX_ERRORS: 1
#include "weft/conv/convolution.hpp"
#include "weft/conv/ready_made.hpp"

using E = weft::epilogues::Chain<weft::epilogues::FilterZeroPoint, weft::epilogues::ToAccumulator>;
auto op = weft::conv::Convolution<weft::conv::S8Depthwise4<E>>::Create({});
