// gemm::Block on the CPU executor, and what does not need a kernel: layouts, division among warps.
#include "tests/gemm/block/mma_cases.hpp"

namespace weft::gemm {
namespace {

// The layouts say, in elements, where the mainloop looks for a byte. Rows that are longer than the
// tile (simt_async) leave holes.
template <class D, class Operand, class Offset>
void ExpectLayout(int rows, const Offset& offset) {
  constexpr typename Operand::Layout layout;
  const int depth = Operand::kKTiles * Block<D>::Mainloop::kBlockK;
  std::vector<int> seen(Operand::kBytes / Operand::kElementBytes);
  int different = 0;
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      const int k_tile = k / Block<D>::Mainloop::kBlockK,
                in_k_tile = k % Block<D>::Mainloop::kBlockK;
      const int element = layout(row, k);
      different += element * Operand::kElementBytes !=
                   k_tile * Operand::kKTileBytes + offset(row, in_k_tile * Operand::kElementBytes);
      ++seen.at(element);
    }
  }
  EXPECT_EQ(different, 0);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), rows * depth);  // each its own, ...
  EXPECT_TRUE(CheckedBlock<D>::kAsync ||
              rows * depth == static_cast<int>(seen.size()));  // and onto
}

template <class D>
void ExpectLayouts() {
  using B = Block<D>;
  using M = typename B::Mainloop;
  if constexpr (CheckedBlock<D>::kMma) {
    const auto place = [](auto layout, int row, int byte) {
      return decltype(layout)::Offset(row, byte / 32, byte % 32 / 16) + byte % 16;
    };
    ExpectLayout<D, typename B::OperandA>(
        M::kBlockM, [&](int row, int byte) { return place(typename M::LayoutA(), row, byte); });
    ExpectLayout<D, typename B::OperandB>(M::kBlockN, [&](int column, int byte) {
      return place(typename M::LayoutB(), M::ColumnsOfB::Shared(column), byte);
    });
  } else if constexpr (CheckedBlock<D>::kAsync) {
    const auto place = [](int pitch, int row, int byte) {
      return (byte / M::kElementBytes * pitch + row) * M::kElementBytes + byte % M::kElementBytes;
    };
    ExpectLayout<D, typename B::OperandA>(
        M::kBlockM, [&](int row, int byte) { return place(M::kPitchA, row, byte); });
    ExpectLayout<D, typename B::OperandB>(
        M::kBlockN, [&](int column, int byte) { return place(M::kPitchB, column, byte); });
  } else {
    const auto place = [](auto rows, int row, int byte) {
      return M::template Offset<decltype(rows)>(byte / M::kGroupBytes, row) + byte % M::kGroupBytes;
    };
    ExpectLayout<D, typename B::OperandA>(
        M::kBlockM, [&](int row, int byte) { return place(RowsOfA(), row, byte); });
    ExpectLayout<D, typename B::OperandB>(
        M::kBlockN, [&](int column, int byte) { return place(RowsOfB(), column, byte); });
  }
}

TEST(BlockLayout, IsTheMainloops) {
  ExpectLayouts<S8Ragged>();
  ExpectLayouts<S8MnMajor>();
  ExpectLayouts<S8Simt>();
  ExpectLayouts<HalfRagged>();
  ExpectLayouts<Bfloat16MnMajor>();
  ExpectLayouts<FloatRagged>();
  ExpectLayouts<FloatAsyncSquare>();
  ExpectLayouts<FloatAsyncRows>();
  ExpectLayouts<DoubleAsync>();
  ExpectLayouts<DoubleSquare>();
}

TEST(BlockLayout, LdMatrixHasNoBankConflicts) {
  CheckProduct<HalfRows>(HalfRows::config.shape, 1);
  EXPECT_GT(LastStats().ldmatrix_phases, 100);
  EXPECT_EQ(LastStats().ldmatrix_wavefronts, LastStats().ldmatrix_phases);
  CheckProduct<S8Ragged>(S8Ragged::config.shape, 1);
  EXPECT_EQ(LastStats().ldmatrix_wavefronts, LastStats().ldmatrix_phases);
}

TEST(BlockLayout, AsyncLoadsHaveNoBankConflicts) {
  CheckLong<FloatAsyncSquare>({64, 64, 48}, 1);
  EXPECT_GT(LastStats().shared_phases, 100);
  EXPECT_EQ(LastStats().shared_wavefronts, LastStats().shared_phases);
}

// Every division covers the product, leaves no warp of it without work and keeps rows whole where
// that is asked for.
TEST(BlockTiles, CoverEveryShape) {
  for (const int vector : {-1, 0, 2, 4}) {  // tensor cores, simt, simt_async
    const bool is_mma = vector < 0;
    for (int m = 1; m <= 140; m += 9) {
      for (int n = 1; n <= 140; n += 7) {
        for (int warps = 1; warps <= 8; ++warps) {
          for (const bool whole_rows : {false, true}) {
            const TileShape shape{m, n, 40};
            const internal::BlockTiles tiles =
                is_mma ? internal::MmaTiles(shape, 2, warps, whole_rows)
                       : internal::SimtTiles(shape, {1, vector}, warps, whole_rows);
            if (tiles.warps == 0) {
              EXPECT_FALSE(is_mma);
              continue;
            }
            EXPECT_GE(tiles.block.m, m);
            EXPECT_GE(tiles.block.n, n);
            EXPECT_GT(m, tiles.block.m - tiles.warp.m);
            EXPECT_GT(n, tiles.block.n - tiles.warp.n);
            EXPECT_LE(tiles.warps, warps);
            EXPECT_EQ(tiles.block.m / tiles.warp.m * (tiles.block.n / tiles.warp.n), tiles.warps);
            EXPECT_EQ(tiles.warp.m * tiles.warp.n, 32 * tiles.sums);
            EXPECT_TRUE(!whole_rows || tiles.block.n == tiles.warp.n);
          }
        }
      }
    }
  }
  EXPECT_EQ(Block<S8MnMajor>::kThreads, Block<S8MnMajor>::kSuggestedThreads);
  EXPECT_EQ(Block<HalfRows>::kSuggestedThreads, 128);
  EXPECT_EQ(Block<U8Small>::kSuggestedThreads, 32);
  EXPECT_EQ(Block<FloatAsyncSquare>::kThreads, 64);           // 8 x 8 sums each
  EXPECT_EQ(Block<FloatAsyncRows>::Accumulators::kSize, 48);  // 4 x 12
  EXPECT_EQ(Block<U8Small>::Accumulators::kThreads, 32);
}

}  // namespace
}  // namespace weft::gemm
