// Tensor views: access, slices, tiles and partitions.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "random_layout.hpp"
#include "weft/layouts/coordinate_tensor.hpp"
#include "weft/layouts/matrix.hpp"
#include "weft/layouts/partition.hpp"
#include "weft/layouts/register_tensor.hpp"

namespace weft::layouts {
namespace {

using testing::ForRandomCases;
using testing::Kind;
using testing::RandomLayout;
using testing::Rng;
using testing::Uniform;

std::vector<int> Iota(std::int64_t size) {
  std::vector<int> values(size);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(TensorView, ReadsAndWritesThroughTheLayout) {
  std::vector<int> memory(24);
  const auto view = MakeTensorView(memory.data(), MakeLayout(MakeTuple(4, kInt<6>), RowMajor{}));
  view(2, 3) = 7;
  EXPECT_EQ(memory[15], 7);
  EXPECT_EQ(view[2 + 4 * 3], 7);
  EXPECT_EQ(view(2, _)(3), 7);
  EXPECT_EQ(view(_, 3)(2), 7);
  EXPECT_EQ(view(MakeTuple(2, 3)), 7);
  static_assert(sizeof(MakeTensorView(memory.data(), MakeLayout(kInt<4>))) == sizeof(int*));
  // An iterator serves as well as a pointer.
  const auto by_iterator = MakeTensorView(memory.cbegin(), view.layout());
  EXPECT_EQ(by_iterator(2, 3), 7);
}

TEST(TensorView, SlicesAliasTheElements) {
  ForRandomCases(100, []<class Profile>(Rng& rng) {
    if constexpr (kRank<Profile> == 2) {
      const auto layout = RandomLayout<Profile>(rng, testing::RandomKind(rng));
      auto memory = Iota(Cosize(layout));
      const auto view = MakeTensorView(memory.data(), layout);
      for (int i = 0; i < Size<0>(view); ++i) {
        for (int j = 0; j < Size<1>(view); ++j) {
          ASSERT_EQ(&view(i, _)(j), &view(i, j));
          ASSERT_EQ(&view(_, j)(i), &view(i, j));
        }
      }
    }
  });
}

TEST(LocalTile, TilesCoverEveryElementExactlyOnce) {
  ForRandomCases(200, []<class>(Rng& rng) {
    const int tm = Uniform(rng, 1, 4), tn = Uniform(rng, 1, 4);
    const int rm = Uniform(rng, 1, 4), rn = Uniform(rng, 1, 4);
    const bool row_major = Uniform(rng, 0, 1) == 1;
    const auto layout = MakeLayout(MakeTuple(tm * rm, tn * rn),
                                   row_major ? MakeTuple(tn * rn, 1) : MakeTuple(1, tm * rm));
    auto memory = Iota(Size(layout));
    const auto view = MakeTensorView(memory.data(), layout);
    std::vector<int> seen(memory.size());
    for (int x = 0; x < rm; ++x) {
      const auto row = LocalTile(view, MakeTuple(tm, tn), MakeTuple(x, _));
      ASSERT_EQ(kRank<decltype(row)>, 3u);
      const auto same_row = LocalTile(view, MakeTuple(tm, tn), x);  // the rest left out
      for (int y = 0; y < rn; ++y) {
        const auto tile = LocalTile(view, MakeTuple(tm, tn), MakeTuple(x, y));
        ASSERT_EQ(Size<0>(tile), tm);
        ASSERT_EQ(Size<1>(tile), tn);
        for (int i = 0; i < tm; ++i) {
          for (int j = 0; j < tn; ++j) {
            ASSERT_EQ(&tile(i, j), &view(x * tm + i, y * tn + j));
            ASSERT_EQ(&row(i, j, y), &tile(i, j));
            ASSERT_EQ(&same_row(i, j, y), &tile(i, j));
            ++seen[tile(i, j)];
          }
        }
      }
    }
    ASSERT_EQ(seen, std::vector<int>(seen.size(), 1));
  });
}

TEST(LocalTile, ATileOfAStaticTilerIsStatic) {
  auto memory = Iota(6000);
  const auto view = MakeTensorView(memory.data(), MakeLayout(MakeTuple(100, 60)));
  const auto tile = LocalTile(view, MakeTuple(kInt<16>, kInt<8>), MakeTuple(1, 2));
  static_assert(IsStatic<decltype(tile.shape())>);
  EXPECT_EQ(tile.data() - memory.data(), 16 + 100 * 16);
}

// What may number threads: each position one number, no number left out.
static_assert(detail::IsCompact(MakeLayout(MakeTuple(2, MakeTuple(2, 3)), RowMajor{})));
static_assert(!detail::IsCompact(MakeLayout(MakeTuple(2, 2), MakeTuple(1, 4))));
static_assert(!detail::IsCompact(MakeLayout(MakeTuple(2, 2), MakeTuple(1, 1))));
static_assert(!detail::IsCompact(MakeLayout(MakeTuple(2, 2), MakeTuple(1, 0))));

TEST(Partition, GivesEveryElementToExactlyOneThread) {
  ForRandomCases(200, []<class>(Rng& rng) {
    // Threads in any order, one of the modes nested.
    const auto threads = RandomLayout<Tuple<int, Tuple<int, int>>>(rng, Kind::kCompact, 4);
    const int rm = Uniform(rng, 1, 3), rn = Uniform(rng, 1, 3);
    const int m = Size<0>(threads) * rm, n = Size<1>(threads) * rn;
    auto memory = Iota(m * n);
    const auto view = MakeTensorView(memory.data(), MakeLayout(MakeTuple(m, n)));
    std::vector<int> owner(memory.size(), -1);
    for (int t = 0; t < Size(threads); ++t) {
      const auto mine = Partition(view, threads, t);
      ASSERT_EQ(Size<0>(mine), rm);
      ASSERT_EQ(Size<1>(mine), rn);
      for (int k = 0; k < Size(mine); ++k) {
        ASSERT_EQ(owner[mine[k]], -1);
        owner[mine[k]] = t;
      }
    }
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        ASSERT_EQ(owner[i + m * j], threads(i % Size<0>(threads), j % Size<1>(threads)))
            << ToString(threads);
      }
    }
  });
}

TEST(PartitionValues, GivesEveryElementToExactlyOneThreadAndValue) {
  ForRandomCases(200, []<class>(Rng& rng) {
    const auto tv = RandomLayout<Tuple<int, Tuple<int, int>>>(rng, Kind::kCompact, 4);
    const int tm = Uniform(rng, 1, 2) == 1 ? 1 : static_cast<int>(Size<0>(tv));
    const int tn = static_cast<int>(Size(tv)) / tm;
    auto memory = Iota(tm * tn);
    // A row of tm*tn elements, seen as a vector.
    const auto view = MakeTensorView(memory.data(), MakeLayout(tm * tn));
    std::vector<int> seen(memory.size());
    for (int t = 0; t < Size<0>(tv); ++t) {
      const auto mine = PartitionValues(view, tv, t);
      ASSERT_EQ(Size(mine), Size<1>(tv));
      for (int v = 0; v < Size(mine); ++v) {
        ASSERT_EQ(mine[v], tv(t, v));
        ++seen[mine[v]];
      }
    }
    ASSERT_EQ(seen, std::vector<int>(seen.size(), 1));
  });
}

// The accumulator of the 16 x 8 tensor-core product: thread t holds rows t/4 and t/4+8, columns
// 2*(t%4) and 2*(t%4)+1.
constexpr auto kAccumulator =
    MakeLayout(MakeTuple(MakeTuple(kInt<4>, kInt<8>), MakeTuple(kInt<2>, kInt<2>)),
               MakeTuple(MakeTuple(kInt<32>, kInt<1>), MakeTuple(kInt<16>, kInt<8>)));

TEST(PartitionValues, ATensorCoreAccumulatorOverManyTiles) {
  const int m = 48, n = 24;
  auto memory = Iota(m * n);
  const auto view =
      MakeTensorView(memory.data(), MakeLayout(MakeTuple(m, n), MakeTuple(n, kInt<1>)));
  std::vector<int> seen(memory.size());
  for (int t = 0; t < 32; ++t) {
    const auto mine = PartitionValues(view, MakeTuple(kInt<16>, kInt<8>), kAccumulator, t);
    ASSERT_EQ(Size<0>(mine), 4);
    ASSERT_EQ(Size<1>(mine), 9);
    for (int v = 0; v < 4; ++v) {
      for (int x = 0; x < 3; ++x) {
        for (int y = 0; y < 3; ++y) {
          const int i = 16 * x + t / 4 + 8 * (v / 2), j = 8 * y + 2 * (t % 4) + v % 2;
          ASSERT_EQ(&mine(v, MakeTuple(x, y)), &view(i, j));
          ++seen[mine(v, MakeTuple(x, y))];
        }
      }
    }
  }
  ASSERT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST(TensorView, SwizzledTilesKeepTheirPlace) {
  auto memory = Iota(64 * 64);
  const auto plain = MakeLayout(MakeTuple(kInt<64>, kInt<64>), RowMajor{});
  const auto view = MakeTensorView(memory.data(), Composition(Swizzle<3, 3, 3>{}, plain));
  std::vector<int> seen(memory.size());
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 8; ++y) {
      const auto tile = LocalTile(view, MakeTuple(kInt<16>, kInt<8>), MakeTuple(x, y));
      for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 8; ++j) {
          ASSERT_EQ(&tile(i, j), &view(16 * x + i, 8 * y + j));
          ++seen[tile(i, j)];
        }
      }
    }
  }
  ASSERT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST(Matrix, IsPointerAndStrides) {
  auto memory = Iota(60);
  const auto row = MakeMatrix(memory.data(), 4, 5, RowMajor{}, 12);
  const auto col = MakeMatrix(memory.data(), 4, 5, ColumnMajor{});
  EXPECT_EQ(row(2, 3), 27);
  EXPECT_EQ(col(2, 3), 14);
  EXPECT_TRUE(row.is_row_major() && !row.is_column_major() && col.is_column_major());
  EXPECT_EQ(MakeMatrix(memory.data(), 4, 5, RowMajor{})(1, 0), 5);
  EXPECT_EQ(MakeMatrix(memory.data(), 4, 5, ColumnMajor{}, 6)(0, 1), 6);
  EXPECT_EQ(row.Transposed()(3, 2), 27);
  EXPECT_EQ(row.Block(1, 2, 3, 3)(1, 1), 27);
  const Matrix<const int> read_only = row;
  EXPECT_EQ(read_only(2, 3), 27);
  // The same elements as the tensor view.
  const auto view = MakeTensorView(row.data, row.layout());
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 5; ++j) EXPECT_EQ(&view(i, j), &row(i, j));
  }
}

// Cut and partitioned as the matrix, it says where each element is.
TEST(CoordinateTensor, KnowsWhereElementsAre) {
  constexpr int kRows = 37, kColumns = 21;
  auto memory = Iota(64 * 64);
  const auto matrix =
      MakeTensorView(memory.data(), MakeLayout(MakeTuple(kRows, kColumns), RowMajor{}));
  const auto where = CoordinateTensor(kRows, kColumns);
  EXPECT_EQ(where(2, 3), (RowColumn{2, 3}));
  const auto threads = MakeLayout(MakeTuple(kInt<4>, kInt<2>), RowMajor{});
  int inside = 0;
  for (int tile = 0; tile < 5 * 6; ++tile) {
    const auto cut = [&](auto view) {
      return LocalTile(view, MakeTuple(kInt<8>, kInt<4>), MakeTuple(tile / 6, tile % 6));
    };
    for (int t = 0; t < 8; ++t) {
      const auto mine = Partition(cut(matrix), threads, t);
      const auto here = Partition(cut(where), threads, t);
      for (int i = 0; i < Size(mine); ++i) {
        EXPECT_EQ(mine.layout()(i) + (mine.data() - memory.data()),
                  here[i].row * kColumns + here[i].column);
        EXPECT_EQ(IsInside(here, i), here[i].row < kRows && here[i].column < kColumns);
        inside += IsInside(here, i);
      }
    }
  }
  EXPECT_EQ(inside, kRows * kColumns);
}

TEST(RegisterTensor, OwnsItsElements) {
  using L = decltype(MakeLayout(MakeTuple(kInt<2>, kInt<3>), MakeTuple(kInt<3>, kInt<1>)));
  RegisterTensor<int, L> tensor;
  EXPECT_EQ(tensor(1, 2), 0);
  tensor(1, 2) = 7;
  EXPECT_EQ(tensor.value[5], 7);
  auto copy = tensor;
  copy[1] = 5;  // (1, 0)
  EXPECT_EQ(copy(1, 0), 5);
  EXPECT_EQ(tensor(1, 0), 0);
  copy.Fill(3);
  EXPECT_EQ(copy(0, 1) + copy(1, 2), 6);
}

TEST(Recast, SeesTheSameBytes) {
  alignas(16) unsigned char memory[8 * 16];
  std::iota(memory, memory + sizeof(memory), 0);
  const auto rows =
      Composition(Swizzle<2, 3, 3>{}, MakeLayout(MakeTuple(kInt<8>, kInt<16>), RowMajor{}));
  const auto bytes = MakeTensorView(&memory[0], rows);
  const auto words = Recast<std::uint32_t>(bytes);
  EXPECT_EQ(words.shape(), MakeTuple(8, 4));
  const auto back = Recast<unsigned char>(words);
  EXPECT_TRUE(back.layout().layout() == rows.layout());
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 16; ++j) {
      EXPECT_EQ(words(i, j / 4) >> j % 4 * 8 & 0xFF, bytes(i, j));
      EXPECT_EQ(&back(i, j), &bytes(i, j));
    }
  }
  const auto pitched =
      MakeTensorView(&memory[0], MakeLayout(MakeTuple(3, kInt<8>), MakeTuple(32, kInt<1>)));
  EXPECT_EQ(Recast<std::uint64_t>(pitched)(2, 0) & 0xFF, 64u);

  RegisterTensor<unsigned char, decltype(MakeLayout(MakeTuple(kInt<4>, kInt<2>)))> held;
  for (int i = 0; i < 8; ++i) held[i] = static_cast<unsigned char>(i + 1);
  const auto packed = Recast<std::uint32_t>(held);
  EXPECT_EQ(packed(0, 0), 0x04030201u);
  EXPECT_EQ(packed(0, 1), 0x08070605u);
}

}  // namespace
}  // namespace weft::layouts
