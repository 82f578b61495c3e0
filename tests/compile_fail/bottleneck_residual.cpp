// A residual between the convolutions of a bottleneck.
// EXPECT: static assertion failed: weft: the epilogues of a Bottleneck have no zero points of source or filter
#include "weft/conv/bottleneck.hpp"

using Bytes = weft::epilogues::BiasRelu<>;
struct Mine : weft::conv::S8Bottleneck<Bytes, weft::epilogues::ResidualBiasRelu<>, Bytes> {};

auto op = weft::conv::Bottleneck<Mine>::Create({});
