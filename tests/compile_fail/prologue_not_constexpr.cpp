// Filter without constexpr: nvcc would have no code for the GPU.
// EXPECT: static assertion failed: weft: Filter of a prologue must be constexpr
#include "weft/prologues/prologues.hpp"

struct Mine : weft::prologues::SharedFilter {
  std::int64_t Filter(const weft::prologues::BatchCoord& at) const { return at.n; }
};

static_assert(weft::prologues::CheckedPrologue<Mine>::kValid);
