// A channel block that no kernel knows.
// EXPECT: static assertion failed: weft: NCxHWx<x> takes x = 4, .*32 or 64
#include "weft/layouts/formats.hpp"

static_assert(weft::NCxHWx<5>::kInterleave == 5);
