// Step 8: a warp multiplies 16 x 32 by 32 x 8 bytes with one instruction, mma.m16n8k32; ldmatrix
// loads the operands into registers as it wants them.
#pragma once
#include "examples/ladder/step07_warp_tiles.hpp"
#include "weft/layouts/algebra/swizzle.hpp"

namespace ladder {
inline namespace WEFT_BACKEND {

// SwizzleT, of the bytes of a k tile, is step 9's matter.
template <class SwizzleT>
struct MmaKernel {
  static constexpr int kTileM = 128, kTileN = 128, kThreads = 256, kMinBlocksPerSm = 2;
  static constexpr arch::Requires kRequires{.min = 80};
  using Params = Product;
  using SharedStorage = Ring<4, kStageK>;  // no gaps
  WEFT_DEVICE static int Place(int row, int byte) { return SwizzleT()(row * kStageK + byte); }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, arch::Thread t) const {
    const int first_row = t.block_y() * kTileM;
    const int first_column = t.block_x() * kTileN;
    const WarpTile of(t);
    std::int32_t sums[4][4][4] = {};  // [16 rows][8 columns][what a lane has of them]
    const auto multiply = [&](const std::int8_t* a_k_tile, const std::int8_t* b_k_tile) {
      const std::uint32_t a_start = t.SharedAddress(a_k_tile), b_start = t.SharedAddress(b_k_tile);
      WEFT_UNROLL
      for (int k = 0; k < kStageK; k += 32) {
        // A lane names 16 bytes: a row of one of four matrices of 8 x 16.
        const int l = t.lane();
        std::uint32_t a[4][4], b[2][4];
        WEFT_UNROLL
        for (int m = 0; m < 4; ++m) {
          const int row = of.first_row + 16 * m + l % 16;
          t.LdMatrixX4(a[m], a_start + Place(row, k + l / 16 * 16));
        }
        WEFT_UNROLL
        for (int n = 0; n < 2; ++n) {
          const int column = of.first_column + 16 * n + l / 16 * 8 + l % 8;
          t.LdMatrixX4(b[n], b_start + Place(column, k + l / 8 % 2 * 16));
        }
        WEFT_UNROLL
        for (int m = 0; m < 4; ++m) {
          WEFT_UNROLL
          for (int n = 0; n < 4; ++n) {
            const std::uint32_t right[2] = {b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]};
            t.MmaM16N8K32S8(sums[m][n], a[m], right, sums[m][n]);
          }
        }
      }
    };
    ForEachKTile<kThreads>(
        t, p, first_row, first_column, s, [](int row, int byte) { return Place(row, byte); },
        multiply);
    WEFT_UNROLL
    for (int i = 0; i < 32; ++i) {  // two neighbouring sums
      const int r = i / 4, n = i % 4, first = r % 2 * 2;
      const auto& mma = sums[r / 2][n];
      StoreSums<2>(t, p.c, first_row + of.row(r), first_column + of.column(2 * n),
                   {{mma[first], mma[first + 1]}});
    }
  }
};

struct TensorCores : MmaKernel<weft::layouts::Swizzle<0, 4, 3>> {  // moves nothing
  static constexpr const char* kName = "tensor cores";
};

}  // namespace WEFT_BACKEND
}  // namespace ladder
