// Floats between the convolutions of a bottleneck.
// EXPECT: static assertion failed: weft: FirstEpilogue, SecondEpilogue, Epilogue and, unless it is void, Projection of a Bottleneck
#include "weft/conv/bottleneck.hpp"

using Floats = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::ToFloat>;
using Bytes = weft::epilogues::BiasRelu<>;
struct Mine : weft::conv::S8Bottleneck<Floats, Bytes, Bytes> {};

auto op = weft::conv::Bottleneck<Mine>::Create({});
