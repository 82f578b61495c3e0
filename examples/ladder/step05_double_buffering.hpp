// Step 5: two k tiles in shared memory. While one is multiplied, the next is on its way in
// registers; one barrier a k tile.
#pragma once
#include "examples/ladder/step04_vector_loads.hpp"

namespace ladder {
inline namespace WEFT_BACKEND {

struct DoubleBuffering {
  using Tile = VectorLoads;
  static constexpr const char* kName = "double buffering";
  static constexpr int kTileM = Tile::kTileM, kTileN = Tile::kTileN, kTileK = Tile::kTileK;
  static constexpr int kThreads = Tile::kThreads, kMinBlocksPerSm = 2;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = Product;
  struct SharedStorage {
    Tile::KTile k_tile[2];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, arch::Thread t) const {
    const int first_row = t.block_y() * kTileM;
    const int first_column = t.block_x() * kTileN;
    const int row = t.tid() / 2, half = t.tid() % 2;
    Words a, b;
    const auto load = [&](int k) {
      a = LoadBytes<Words>(t, p.a, first_row + row, k + 16 * half);
      b = LoadBytes<Words>(t, p.b.Transposed(), first_column + row, k + 16 * half);
    };
    const auto put = [&](Tile::KTile& to) {
      Tile::Put(t, a, row, half, to.a);
      Tile::Put(t, b, row, half, to.b);
    };
    std::int32_t sums[8][8] = {};
    load(0);
    put(s.k_tile[0]);
    t.SyncThreads();
    int now = 0;
    for (int k = 0; k < p.a.cols; k += kTileK) {
      load(k + kTileK);  // zeros behind the last k tile
      Tile::Multiply(t, s.k_tile[now], sums);
      put(s.k_tile[now ^ 1]);  // everybody has read it: they are past the last barrier
      t.SyncThreads();
      now ^= 1;
    }
    Tile::Store(t, p.c, first_row, first_column, sums);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace ladder
