// Halves for a product of bytes.
// EXPECT: static assertion failed: weft: an operand of TiledMma::Multiply has other elements than the
// TiledMma's atom
// MAX_ERRORS: 2
#include "tests/compile_fail/tiled_base.hpp"

void Use(weft::arch::Thread t, weft::Half* a, TiledBase<>::FragmentC& sums) {
  const auto view = MakeTensorView(a, TiledBase<>::SharedA<64>());
  TiledBase<>::Multiply(t, view, view, sums);
}
