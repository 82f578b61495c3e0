// A gap that is not whole.
// EXPECT: static assertion failed: layouts: Complement\(A, m\): sorted by stride, each stride of A
// must be a multiple
#include "weft/layouts/algebra.hpp"

using namespace weft::layouts;

auto bad =
    Complement(MakeLayout(MakeTuple(kInt<2>, kInt<2>), MakeTuple(kInt<1>, kInt<3>)), kInt<12>);
