// Three entries for two modes.
// EXPECT: static assertion failed: layouts: the coordinate does not fit the shape
#include "weft/layouts/algebra/layout.hpp"

using namespace weft::layouts;

auto bad = MakeLayout(MakeTuple(4, 8))(1, 2, 3);
