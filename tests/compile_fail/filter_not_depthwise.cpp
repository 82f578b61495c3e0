// A filter packed by PackFilter where a depthwise operator wants its own packing.
// EXPECT: static assertion failed: weft: this filter is not packed for a depthwise operator
#include "weft/layouts/packed_filter.hpp"
#include "weft/prologues/prologues.hpp"

using Wanted = weft::PackedFilter<weft::KRSx4x4, std::int8_t, weft::prologues::Depthwise>;

Wanted Convert(const weft::PackedFilter<weft::KRSx4x4>& filter) {
  return filter;
}
