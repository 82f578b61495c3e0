// A plain tile of halves, where the product wants its own layout.
// EXPECT: static assertion failed: weft: Multiply takes views of the layouts that the block suggests
#include "tests/compile_fail/block_base.hpp"

using Product = weft::gemm::Block<BlockBase>;

void Use(weft::arch::Thread t, Product::SharedStorage& shared, weft::Half* mine) {
  const auto a = weft::layouts::MakeTensorView(
      mine, weft::layouts::MakeLayout(weft::layouts::MakeTuple(64, 64), RowMajor{}));
  Product::Multiply(t, a, Product::ViewB(shared.b));
}
