// A step that straddles two modes.
// EXPECT: static assertion failed: layouts: Composition\(A, B\): a mode s:d of B must divide its
// way through the extents of A
#include "weft/layouts/algebra.hpp"

using namespace weft::layouts;

auto bad = Composition(MakeLayout(MakeTuple(kInt<4>, kInt<6>), MakeTuple(kInt<1>, kInt<10>)),
                       MakeLayout(kInt<4>, kInt<3>));
