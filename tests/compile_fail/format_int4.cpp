// A filter format that no kernel reads in blocks of int4.
// EXPECT: static assertion failed: weft: PackedInt4<Format> packs filters of the formats CxRSKx<4>, CxRSKx<32>,
#include "weft/layouts/packed_filter.hpp"

auto packed = weft::PackFilter<weft::PackedInt4<weft::KCRS>>({}, std::vector<std::int8_t>());
