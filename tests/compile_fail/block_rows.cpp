// Four warps share rows: nobody can reduce one alone.
// EXPECT: static assertion failed: weft: ReduceRows needs a block's product with config.whole_rows = true
#include "tests/compile_fail/block_base.hpp"

using Product = weft::gemm::Block<BlockBase>;

void Use(weft::arch::Thread t, Product::SharedStorage& shared) {
  Product::Multiply(t, Product::ViewA(shared.a), Product::ViewB(shared.b)).RowMax(t);
}
