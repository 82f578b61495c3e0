// Nothing lies together that could be a larger element.
// EXPECT: static assertion failed: layouts: Recast: a mode of the layout must have stride 1
#include "weft/layouts/register_tensor.hpp"

using namespace weft::layouts;

signed char memory[64];
auto bad =
    Recast<int>(MakeTensorView(&memory[0], MakeLayout(MakeTuple(kInt<4>), MakeTuple(kInt<4>))));
