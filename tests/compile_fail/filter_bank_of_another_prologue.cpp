// The bank of one prologue where another's is wanted: the filters would be in another order.
// EXPECT: static assertion failed: weft: this bank of filters was packed for another prologue than the operator's
#include "weft/layouts/packed_filter.hpp"
#include "weft/prologues/prologues.hpp"

template <class Prologue>
using Bank = weft::PackedFilter<weft::CxRSKx<32>, std::int8_t, Prologue>;

Bank<weft::prologues::LocalFilter> Wanted(const Bank<weft::prologues::LocalBlock<2, 2>>& bank) {
  return bank;
}
