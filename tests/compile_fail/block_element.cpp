// A matrix of floats is converted only if it is said how.
// EXPECT: static assertion failed: weft: a matrix of another type than the operand's needs a function
// MAX_ERRORS: 2
#include "tests/compile_fail/block_base.hpp"

using Product = weft::gemm::Block<BlockBase>;

void Use(weft::arch::Thread t, Product::SharedStorage& shared, const float* mine) {
  Product::CopyA(t, weft::layouts::MakeMatrix(mine, 64, 64, RowMajor{}), Product::ViewA(shared.a));
}
