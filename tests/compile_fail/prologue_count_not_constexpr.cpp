// Filters without constexpr.
// EXPECT: static assertion failed: weft: Filters of a prologue must be constexpr
#include "weft/prologues/prologues.hpp"

struct Mine : weft::prologues::SharedFilter {
  static std::int64_t Filters(const weft::prologues::BatchExtents&) { return 1; }
};

static_assert(weft::prologues::CheckedPrologue<Mine>::kValid);
