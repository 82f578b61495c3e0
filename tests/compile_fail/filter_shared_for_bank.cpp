// One filter where the operator's prologue chooses from a bank.
// EXPECT: static assertion failed: weft: this is one filter, and the operator's prologue chooses from a bank of them; pack it with weft::PackFilters
#include "weft/layouts/packed_filter.hpp"
#include "weft/prologues/prologues.hpp"

using Bank = weft::PackedFilter<weft::CxRSKx<4>, std::int8_t, weft::prologues::PerSample>;

Bank Wanted(const weft::PackedFilter<weft::CxRSKx<4>>& filter) {
  return filter;
}
