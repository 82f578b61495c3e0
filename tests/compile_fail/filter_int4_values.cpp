// Values that are quantised to 4 bits come as int8.
// EXPECT: static assertion failed: weft: PackedInt4 packs values of std::int8_t, from -8 to 7
#include "weft/layouts/packed_filter.hpp"

auto packed = weft::PackFilter<weft::PackedInt4<weft::KRSC>>({}, std::vector<short>());
