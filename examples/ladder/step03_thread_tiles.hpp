// Step 3: a thread makes 8 x 8 sums, so that a word that it has loaded from shared memory serves 8
// of them; words of four bytes, which dp4a multiplies at once.
#pragma once
#include "examples/ladder/product.hpp"

namespace ladder {
inline namespace WEFT_BACKEND {

struct ThreadTiles {
  static constexpr const char* kName = "thread tiles";
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kWords = kTileK / 4;
  static constexpr int kThreads = 256;  // 16 x 16
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = Product;
  struct SharedStorage {
    std::uint32_t a[kTileM][kWords], b[kTileN][kWords];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, arch::Thread t) const {
    const int first_row = t.block_y() * kTileM;
    const int first_column = t.block_x() * kTileN;
    const int row = t.tid() / 16 * 8, column = t.tid() % 16 * 8;  // of the thread's sums
    std::int32_t sums[8][8] = {};
    for (int k = 0; k < p.a.cols; k += kTileK) {
      LoadTile(t, p.a, first_row, k, s.a);
      LoadTile(t, p.b.Transposed(), first_column, k, s.b);
      t.SyncThreads();
      WEFT_NO_UNROLL  // the compiler would merge the loads, which is step 4
          for (int w = 0; w < kWords; ++w) {
        std::uint32_t a[8], b[8];
        WEFT_UNROLL
        for (int i = 0; i < 8; ++i) {
          a[i] = t.LoadShared(&s.a[row + i][w]);
          b[i] = t.LoadShared(&s.b[column + i][w]);
        }
        t.Dp4aOuter(sums, a, b);
      }
      t.SyncThreads();
    }
    WEFT_UNROLL
    for (int i = 0; i < 8; ++i) {
      WEFT_UNROLL
      for (int j = 0; j < 8; ++j) {
        StoreSums<1>(t, p.c, first_row + row + i, first_column + column + j, {{sums[i][j]}});
      }
    }
  }

 private:
  // Eight lanes load the 32 bytes of a row.
  template <int kRows>
  WEFT_DEVICE static void LoadTile(arch::Thread t, const Bytes& rows, int first, int k,
                                   std::uint32_t (&to)[kRows][kWords]) {
    WEFT_UNROLL
    for (int i = 0; i < kRows * kWords / kThreads; ++i) {
      const int row = (t.tid() + i * kThreads) / kWords, word = t.tid() % kWords;
      t.StoreShared(&to[row][word], LoadBytes<std::uint32_t>(t, rows, first + row, k + 4 * word));
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace ladder
