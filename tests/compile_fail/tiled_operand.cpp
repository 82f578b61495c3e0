// A view of a matrix whose pitch is known at run time only, as operand.
// EXPECT: static assertion failed: weft: TiledMma::Multiply reads views of shared memory whose layouts
// are known at compile time
// MAX_ERRORS: 2
#include "tests/compile_fail/tiled_base.hpp"

void Use(weft::arch::Thread t, std::int8_t* a, int pitch, TiledBase<>::FragmentC& sums) {
  const auto view =
      MakeTensorView(a, MakeLayout(Ints<64, 64>(), MakeTuple(pitch, weft::layouts::Int<1>())));
  TiledBase<>::Multiply(t, view, view, sums);
}
