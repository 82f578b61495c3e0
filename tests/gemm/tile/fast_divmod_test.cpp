#include "weft/gemm/tile/fast_divmod.hpp"
#include "weft/gemm/tile/tile_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::gemm {
namespace {

void Expect(std::int32_t n, std::int32_t d) {
  std::int32_t remainder = -1;
  const std::int32_t quotient = FastDivmod(d).Divmod(n, remainder);
  ASSERT_EQ(quotient, n / d) << n << " / " << d;
  ASSERT_EQ(remainder, n % d) << n << " % " << d;
}

constexpr std::int32_t kMax = 0x7fffffff;

TEST(FastDivmod, EverySmallPair) {
  for (std::int32_t d = 1; d <= 300; ++d) {
    for (std::int32_t n = 0; n <= 1000; ++n) Expect(n, d);
  }
}

// Multiples of the divisor and their neighbours, where an inexact reciprocal goes wrong first.
TEST(FastDivmod, EdgesOfTheRange) {
  std::mt19937 engine(1);
  for (int i = 0; i < 200000; ++i) {
    const auto d = static_cast<std::int32_t>((engine() & 0x7fffffff) >> (engine() % 31));
    if (d == 0) continue;
    Expect(kMax, d);
    Expect(kMax - 1, d);
    const std::int32_t multiple =
        static_cast<std::int32_t>(engine() % (static_cast<std::uint32_t>(kMax) / d + 1)) * d;
    Expect(multiple, d);
    if (multiple > 0) Expect(multiple - 1, d);
  }
}

TEST(FastDivmod, DivisorOneAndLargest) {
  for (std::int32_t n : {0, 1, 2, 12345, kMax - 1, kMax}) {
    Expect(n, 1);
    Expect(n, kMax);
    Expect(n, kMax - 1);
  }
}

// Every tile once, and no more than `band` rows of tiles together.
TEST(BandedTileGrid, TakesEveryTileOnce) {
  for (const int tiles_m : {1, 2, 7, 8, 9, 31}) {
    for (const int tiles_n : {1, 3, 16}) {
      for (const int band : {1, 4, 8, 100}) {
        const auto p = BandedTileGrid::Make(tiles_m, tiles_n, band);
        std::set<std::pair<int, int>> seen;
        for (int block = 0; block < tiles_m * tiles_n; ++block) {
          const Tile tile = BandedTileGrid::At(p, block);
          ASSERT_TRUE(tile.m >= 0 && tile.m < tiles_m && tile.n >= 0 && tile.n < tiles_n);
          ASSERT_EQ(tile.m / band, block / (band * tiles_n));
          seen.insert({tile.m, tile.n});
        }
        ASSERT_EQ(static_cast<int>(seen.size()), tiles_m * tiles_n);
      }
    }
  }
}

// Every tile of every group once, whatever the groups are; the rest of the blocks have none.
TEST(GroupGrid, TakesEveryTileOfEveryGroupOnce) {
  using Grid = GroupGrid<BandedTileGrid>;
  constexpr int kBlockM = 8, kTilesN = 3, kRows = 61;
  std::mt19937 engine(1);
  for (int trial = 0; trial < 300; ++trial) {
    const int groups = 1 + static_cast<int>(engine() % 12);
    std::vector<std::int32_t> group_offsets(groups);
    for (auto& end : group_offsets) end = static_cast<std::int32_t>(engine() % (kRows + 1));
    std::sort(group_offsets.begin(), group_offsets.end());
    const auto rows = static_cast<int>(Grid::Rows(kRows, groups, kBlockM));
    const Grid::Params p = {BandedTileGrid::Make(rows, kTilesN, 4), FastDivmod(kBlockM),
                            group_offsets.data(), groups, kRows};
    std::set<std::tuple<int, int, int>> seen, want;
    for (int block = 0; block < rows * kTilesN; ++block) {
      const GroupTile tile = Grid::At(p, block);
      if (!tile.exists) continue;
      const int begin = tile.product == 0 ? 0 : group_offsets[tile.product - 1];
      ASSERT_EQ(tile.first_row, begin);
      ASSERT_EQ(tile.rows, group_offsets[tile.product] - begin);
      ASSERT_TRUE(seen.insert({tile.product, tile.m, tile.n}).second);
    }
    for (int g = 0, begin = 0; g < groups; begin = group_offsets[g++]) {
      for (int m = 0; m * kBlockM < group_offsets[g] - begin; ++m) {
        for (int n = 0; n < kTilesN; ++n) want.insert({g, m, n});
      }
    }
    ASSERT_EQ(seen, want);
  }
}

// Memory that holds no ends leads to no row outside the matrix.
TEST(GroupGrid, StaysInside) {
  using Grid = GroupGrid<TileGrid>;
  constexpr int kBlockM = 16, kRows = 100, kGroups = 7;
  std::mt19937 engine(2);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::int32_t> group_offsets(kGroups);
    for (auto& end : group_offsets) end = static_cast<std::int32_t>(engine());
    const auto rows = static_cast<int>(Grid::Rows(kRows, kGroups, kBlockM));
    const Grid::Params p = {TileGrid::Make(rows, 2), FastDivmod(kBlockM), group_offsets.data(),
                            kGroups, kRows};
    for (int block = 0; block < 2 * rows; ++block) {
      const GroupTile tile = Grid::At(p, block);
      ASSERT_TRUE(tile.product >= 0 && tile.product < kGroups && tile.m >= 0);
      ASSERT_GE(tile.first_row, 0);
      if (tile.exists) {
        ASSERT_LE(tile.first_row + tile.rows, kRows);
      }
    }
  }
}

}  // namespace
}  // namespace weft::gemm
