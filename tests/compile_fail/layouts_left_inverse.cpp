// Two indices with one offset.
// EXPECT: static assertion failed: layouts: LeftInverse\(A\): A must not send two indices to one
// offset
#include "weft/layouts/algebra.hpp"

using namespace weft::layouts;

auto bad = LeftInverse(MakeLayout(MakeTuple(kInt<2>, kInt<3>), MakeTuple(kInt<0>, kInt<1>)));
