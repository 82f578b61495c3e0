// A MaxPool in a bottleneck.
// EXPECT: static assertion failed: weft: the epilogues of a Bottleneck have no zero points of source or filter
#include "weft/conv/bottleneck.hpp"

using namespace weft::epilogues;
using Bytes = BiasRelu<>;
struct Pooled : Chain<Scale, RoundFirst, MaxPool<3, 2, 1>, ClampTo<std::int8_t>> {};
struct Mine : weft::conv::S8Bottleneck<Bytes, Bytes, Pooled> {};

auto op = weft::conv::Bottleneck<Mine>::Create({});
