// Step 4: loads and stores of 16 bytes. Words lie k by k in shared memory, so that a thread finds
// those of four rows side by side.
#pragma once
#include "examples/ladder/product.hpp"

namespace ladder {
inline namespace WEFT_BACKEND {

struct VectorLoads {
  static constexpr const char* kName = "vector loads";
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  static constexpr int kThreads = 256;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = Product;
  // [word of k][row]; the four rows too many keep the two halves of a warp's stores apart.
  struct KTile {
    alignas(16) std::uint32_t a[kTileK / 4][kTileM + 4], b[kTileK / 4][kTileN + 4];
  };
  using SharedStorage = KTile;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, arch::Thread t) const {
    const int first_row = t.block_y() * kTileM;
    const int first_column = t.block_x() * kTileN;
    std::int32_t sums[8][8] = {};
    for (int k = 0; k < p.a.cols; k += kTileK) {
      // A thread loads half of a row.
      const int row = t.tid() / 2, half = t.tid() % 2;
      Put(t, LoadBytes<Words>(t, p.a, first_row + row, k + 16 * half), row, half, s.a);
      Put(t, LoadBytes<Words>(t, p.b.Transposed(), first_column + row, k + 16 * half), row, half,
          s.b);
      t.SyncThreads();
      Multiply(t, s, sums);
      t.SyncThreads();
    }
    Store(t, p.c, first_row, first_column, sums);
  }

  // The pieces, which step 5 uses again. Rows and columns of a thread: two runs of four.
  WEFT_DEVICE static int Run(int thread, int i) { return i / 4 * 64 + thread * 4; }

  template <int kWords, int kPitch>
  WEFT_DEVICE static void Put(arch::Thread t, const Words& words, int row, int half,
                              std::uint32_t (&to)[kWords][kPitch]) {
    WEFT_UNROLL
    for (int w = 0; w < 4; ++w) t.StoreShared(&to[half * 4 + w][row], words.v[w]);
  }

  WEFT_DEVICE static void Multiply(arch::Thread t, const KTile& s, std::int32_t (&sums)[8][8]) {
    WEFT_UNROLL
    for (int w = 0; w < kTileK / 4; ++w) {
      std::uint32_t a[8], b[8];
      WEFT_UNROLL
      for (int i = 0; i < 8; i += 4) {
        const auto of = [](auto* p) { return reinterpret_cast<const Words*>(p); };
        const Words x = t.LoadShared(of(&s.a[w][Run(t.tid() / 16, i)]));
        const Words y = t.LoadShared(of(&s.b[w][Run(t.tid() % 16, i)]));
        WEFT_UNROLL
        for (int j = 0; j < 4; ++j) a[i + j] = x.v[j], b[i + j] = y.v[j];
      }
      t.Dp4aOuter(sums, a, b);
    }
  }

  WEFT_DEVICE static void Store(arch::Thread t, const Sums& c, int row, int column,
                                const std::int32_t (&sums)[8][8]) {
    WEFT_UNROLL
    for (int i = 0; i < 8; ++i) {
      WEFT_UNROLL
      for (int j = 0; j < 8; j += 4) {
        StoreSums<4>(t, c, row + Run(t.tid() / 16, i) + i % 4, column + Run(t.tid() % 16, j),
                     {{sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]}});
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace ladder
