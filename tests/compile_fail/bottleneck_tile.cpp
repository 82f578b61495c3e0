// No patch is on its way while all warpgroups multiply theirs.
// EXPECT: static assertion failed: weft: config of a Bottleneck is 4 to 14 rows
#include "weft/conv/bottleneck.hpp"

using Bytes = weft::epilogues::BiasRelu<>;
struct Mine : weft::conv::S8Bottleneck<Bytes, Bytes, Bytes, weft::conv::BottleneckTile<14, 2, 2>> {
};

auto op = weft::conv::Bottleneck<Mine>::Create({});
