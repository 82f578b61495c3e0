// A stride nested otherwise than the shape.
// EXPECT: static assertion failed: layouts: Layout: the stride must be nested like the shape
#include "weft/layouts/algebra/layout.hpp"

using namespace weft::layouts;

auto bad = MakeLayout(MakeTuple(4, 8), MakeTuple(1, MakeTuple(4, 8)));
