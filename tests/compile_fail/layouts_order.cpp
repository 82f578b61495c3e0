// A position twice.
// EXPECT: static assertion failed: layouts: Order<...> needs each position 0 ... rank-1 exactly
// once
#include "weft/layouts/algebra/layout.hpp"

using namespace weft::layouts;

auto bad = MakeLayout(MakeTuple(4, 8), Order<1, 1>{});
