// Step 2: a block loads a k tile of 32 rows and 32 columns to shared memory, where each byte serves
// 32 sums.
#pragma once
#include "examples/ladder/product.hpp"

namespace ladder {
inline namespace WEFT_BACKEND {

struct BlockTiles {
  static constexpr const char* kName = "block tiles";
  static constexpr int kTileM = 32, kTileN = 32, kTileK = 32;
  static constexpr int kThreads = kTileM * kTileN;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = Product;
  struct SharedStorage {
    std::int8_t a[kTileM][kTileK], b[kTileN][kTileK];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, arch::Thread t) const {
    const int first_row = t.block_y() * kTileM;
    const int first_column = t.block_x() * kTileN;
    const Bytes columns = p.b.Transposed();
    std::int32_t sum = 0;  // of row warp() and column lane() of the tile
    for (int k = 0; k < p.a.cols; k += kTileK) {
      // A warp loads one row and one column; the lanes' bytes lie side by side.
      const int w = t.warp(), l = t.lane();
      t.StoreShared(&s.a[w][l], LoadBytes<std::int8_t>(t, p.a, first_row + w, k + l));
      t.StoreShared(&s.b[w][l], LoadBytes<std::int8_t>(t, columns, first_column + w, k + l));
      t.SyncThreads();  // the k tile is there
      WEFT_NO_UNROLL    // the compiler would merge the loads, which is step 4
          for (int i = 0; i < kTileK; ++i) {
        sum += t.LoadShared(&s.a[w][i]) * t.LoadShared(&s.b[l][i]);
      }
      t.SyncThreads();  // and has been read
    }
    StoreSums<1>(t, p.c, first_row + t.warp(), first_column + t.lane(), {{sum}});
  }
};

}  // namespace WEFT_BACKEND
}  // namespace ladder
