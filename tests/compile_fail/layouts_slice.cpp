// A slice with an entry too few.
// EXPECT: static assertion failed: layouts: Slice: the coordinate needs one entry for each mode
// MAX_ERRORS: 3
#include "weft/layouts/algebra/layout.hpp"

using namespace weft::layouts;

auto bad = MakeLayout(MakeTuple(4, 8, 2))(_, 3);
