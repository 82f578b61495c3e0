// A member that cannot be copied to the GPU as bytes.
// EXPECT: static assertion failed: weft: a prologue is copied to the GPU as bytes, so its members are numbers and pointers
#include <vector>

#include "weft/prologues/prologues.hpp"

struct Mine : weft::prologues::SharedFilter {
  std::vector<int> index;
};

static_assert(weft::prologues::CheckedPrologue<Mine>::kValid);
