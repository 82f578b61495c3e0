// Step 7: each warp has a compact part of the tile, 64 x 32 sums. Its lanes then read 64 rows and
// 32 columns for 2048 sums, where those of step 6 read 16 and 128.
#pragma once
#include "examples/ladder/step06_cp_async.hpp"

namespace ladder {
inline namespace WEFT_BACKEND {

// Eight warps, 2 x 4. A lane has two neighbouring sums in each of 8 rows and 4 groups of columns:
// as the tensor cores of step 8 keep theirs.
struct WarpTile {
  static constexpr int kRun = 2;
  int first_row, first_column;  // of the warp, in the block's tile
  int lane;

  WEFT_DEVICE explicit WarpTile(arch::Thread t)
      : first_row(t.warp() / 4 * 64), first_column(t.warp() % 4 * 32), lane(t.lane()) {}
  WEFT_DEVICE int row(int i) const { return first_row + i * 8 + lane / 4; }
  WEFT_DEVICE int column(int j) const { return first_column + j / 2 * 8 + lane % 4 * 2 + j % 2; }
};

struct WarpTiles : AsyncKernel<WarpTile> {
  static constexpr const char* kName = "warp tiles";
};

}  // namespace WEFT_BACKEND
}  // namespace ladder
