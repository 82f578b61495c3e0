// The second product's warps have other rows than the first one's.
// EXPECT: static assertion failed: weft: both products of a chain have config.whole_rows = true and the same number of threads
#include "tests/compile_fail/block_base.hpp"

using Product = weft::gemm::Block<BlockBase>;

void Use(weft::arch::Thread t, const Product::Accumulators& sums) {
  Product::FromAccumulators<Product>(t, sums, weft::Half::FromFloat);
}
