// gemm::Block by wgmma on the CPU executor, and what does not need a kernel.
#include "tests/gemm/block_wgmma_cases.hpp"

namespace weft::gemm {
namespace {

// Stages lie as the descriptors say.
template <class Lines, int kRows, int kGroups>
void ExpectDescribed() {
  int different = 0;
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < 32 * kGroups; ++k) {
      const std::uint32_t start = 7 * Lines::kAlignment + k / 32 * 32;
      different += arch::WgmmaKMajorAddress(start, Lines::kDescriptor, row, k % 32) !=
                   7u * Lines::kAlignment + Lines::Offset(row, k / 32, k % 32 / 16) + k % 16;
    }
  }
  EXPECT_EQ(different, 0);
}

TEST(BlockWgmma, StagesLieAsDescribed) {
  ExpectDescribed<WgmmaLines<64, 1>, 64, 1>();
  ExpectDescribed<WgmmaLines<24, 2>, 24, 2>();
  ExpectDescribed<WgmmaLines<128, 4>, 128, 4>();
}

// Every division covers the product and leaves no warpgroup of it without work.
TEST(BlockWgmma, TilesCoverEveryShape) {
  for (int m = 1; m <= 300; m += 13) {
    for (int n = 1; n <= 256; n += 5) {
      for (int groups = 1; groups <= 4; ++groups) {
        for (const int bytes : {1, 2}) {
          for (const bool whole_rows : {false, true}) {
            const internal::BlockTiles tiles =
                internal::WgmmaTiles({m, n, 40}, bytes, groups, whole_rows);
            const int wm = tiles.block.m / tiles.warp.m, wn = tiles.block.n / tiles.warp.n;
            ASSERT_TRUE(arch::IsWgmmaN(tiles.warp.n));
            EXPECT_GE(tiles.block.m, m);
            EXPECT_GE(tiles.block.n, n);
            EXPECT_GT(m, 64 * (wm / 4 - 1));
            EXPECT_GT(n, tiles.block.n - tiles.warp.n);
            EXPECT_EQ(wm % 4, 0);
            EXPECT_EQ(wm * wn, tiles.warps);
            EXPECT_LE(tiles.warps, 4 * groups);
            EXPECT_EQ(tiles.warp.m * tiles.warp.n, 32 * tiles.sums);
            EXPECT_TRUE(!whole_rows || wn == 1);
          }
        }
      }
    }
  }
  EXPECT_EQ(Block<S8WgmmaAcross>::kThreads, 256);
  EXPECT_EQ(Block<S8WgmmaSmall>::Accumulators::kThreads, 128);
  EXPECT_EQ(Block<HalfWgmmaRagged>::Accumulators::kRows, 6);
  EXPECT_EQ(Block<Bfloat16WgmmaAcross>::Accumulators::kThreads, 512);
}

}  // namespace
}  // namespace weft::gemm
