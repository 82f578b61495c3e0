// A block of pixels with rows and no columns.
// EXPECT: static assertion failed: weft: kDepends.block_h and block_w of a prologue are both positive, or both 0
#include "weft/prologues/prologues.hpp"

struct Mine : weft::prologues::SharedFilter {
  static constexpr weft::prologues::Depends kDepends{.block_h = 4};
};

static_assert(weft::prologues::CheckedPrologue<Mine>::kValid);
