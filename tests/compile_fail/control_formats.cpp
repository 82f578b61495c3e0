// The same include and flags compile when nothing is wrong.
// EXPECT_SUCCESS
#include "weft/layouts/formats.hpp"

static_assert(weft::NCxHWx<32>::kInterleave == 32);
