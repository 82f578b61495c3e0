// Step 1: a thread makes one sum and reads a row of A and a column of B for it.
#pragma once
#include "examples/ladder/product.hpp"

namespace ladder {
inline namespace WEFT_BACKEND {

struct Naive {
  static constexpr const char* kName = "naive";
  static constexpr int kTileM = 8, kTileN = 32;  // sums of a block
  static constexpr int kThreads = kTileM * kTileN;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = Product;
  struct SharedStorage {};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    const int row = t.block_y() * kTileM + t.warp();
    const int column = t.block_x() * kTileN + t.lane();
    if (row >= p.c.rows || column >= p.c.cols) return;
    std::int32_t sum = 0;
    for (int k = 0; k < p.a.cols; ++k) {
      sum += t.LoadGlobal(&p.a(row, k)) * t.LoadGlobal(&p.b(k, column));
    }
    t.StoreGlobal(&p.c(row, column), sum);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace ladder
