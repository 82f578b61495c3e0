// More tiles than modes.
// EXPECT: static assertion failed: layouts: LogicalDivide\(A, tiler\): the tiler has more entries
// than A has modes
// MAX_ERRORS: 2
#include "weft/layouts/algebra.hpp"

using namespace weft::layouts;

auto bad = ZippedDivide(MakeLayout(MakeTuple(8, 8)), MakeTuple(kInt<2>, kInt<2>, kInt<2>));
