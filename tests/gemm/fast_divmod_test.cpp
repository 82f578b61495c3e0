#include "weft/gemm/fast_divmod.hpp"
#include "weft/gemm/tile_grid.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <utility>

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

}  // namespace
}  // namespace weft::gemm
