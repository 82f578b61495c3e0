// Products of doubles through tensor cores: bit for bit one fma for each k on the executor (of each part of
// the k tiles that warps share), within the bound of two roundings of each partial sum on a GPU.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/gemm/product.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm {

template <int src, int dst>
struct DoubleTile {  // 2 x 1 warps, several fragments each way
  static constexpr auto config = MmaSm80Config({64, 32, 16}, {32, 32, 16}, 3, {src, dst});
};
template <int src, int dst>
struct DoubleWideTile {  // more threads than rows of A, one group of k to a k tile, 4 stages
  static constexpr auto config = MmaSm80Config({32, 128, 8}, {16, 32, 8}, 4, {src, dst});
};
template <int src, int dst>
struct DoubleSlicedTile {  // two warps, each with two of the four steps of a k tile
  static constexpr auto config = MmaSm80Config({16, 32, 32}, {16, 32, 16}, 3, {src, dst});
};

namespace {

TEST(GemmDoubleMma, AllLayouts) {
  ExpectAllLayouts<double, double, DoubleTile<16, 8>>(1000, false);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmDoubleMma, EightByteLoads) {
  ExpectEachLayout<double, double, DoubleTile<8, 8>>(2000, false);
}
#endif
TEST(GemmDoubleMma, ExactIntegersInWideTiles) {
  ExpectSums<double, double, RowMajor, RowMajor, RowMajor, DoubleWideTile<16, 16>>(3000, true);
  ExpectSums<double, double, ColumnMajor, ColumnMajor, ColumnMajor, DoubleWideTile<8, 8>>(3010,
                                                                                          true);
}
TEST(GemmDoubleMma, WarpsShareKTiles) {
  ExpectEachLayout<double, double, DoubleSlicedTile<16, 8>>(3500, false);
}
TEST(GemmDoubleMma, FewerKTilesThanStages) {
  using P =
      TypedGemm<double, RowMajor, ColumnMajor, RowMajor, Chain<ToSums<double>>, DoubleTile<16, 8>>;
  for (const int k : {1, 7, 8, 9, 16, 17, 32, 33}) {
    ExpectProduct<P>({.m = 33, .n = 33, .k = k, .lda = 64, .ldb = 34}, 4000 + k, false);
  }
}
TEST(GemmDoubleMma, BatchesAndGroups) {
  using P =
      TypedGemm<double, RowMajor, RowMajor, RowMajor, Chain<ToSums<double>>, DoubleTile<16, 8>>;
  ExpectProduct<P>({.m = 33, .n = 41, .k = 45, .lda = 48, .ldb = 56, .batch = 3}, 5000, false);
  ExpectProduct<Grouped<P>>({.m = 150, .n = 41, .k = 45, .lda = 48, .ldb = 56, .batch = 4}, 5001,
                            false, false, {70, 70, 75, 140});
}
// In double: alpha of one third has no float.
TEST(GemmDoubleMma, ScaledAndAddedInPlace) {
  using Update = Chain<Residual<double>, Scale, ToSums<double>>;
  using P = TypedGemm<double, RowMajor, ColumnMajor, RowMajor, Update, DoubleTile<16, 16>>;
  ExpectProduct<P>({.m = 70, .n = 34, .k = 40}, 6000, false, true);
  using Q = TypedGemm<double, ColumnMajor, RowMajor, ColumnMajor, Update, FmaTile<8, 8>>;
  ExpectProduct<Q>({.m = 70, .n = 33, .k = 40}, 6001, false, true);
  const auto op = Gemm<Q>::Create({.m = 1, .n = 1, .k = 1});
  ASSERT_TRUE(op.ok()) << op.status();
  const OperatorMemory<double> one(std::vector<double>{1.0}), c(std::vector<double>{2.0});
  typename Gemm<Q>::Arguments args;
  args.a = one.get(), args.b = one.get(), args.c = c.get(), args.residual = c.get();
  args.alpha = 1.0 / 3, args.gamma = 0.1;
  RunHere(*op, args, 0);
  EXPECT_EQ(c.Read()[0], std::fma(1.0 / 3, 1.0, 0.1 * 2.0));
}

TEST(GemmDoubleMma, BadInput) {
  using P =
      TypedGemm<double, RowMajor, ColumnMajor, RowMajor, Chain<ToSums<double>>, DoubleTile<16, 16>>;
  const auto message = [](const GemmProblem& p) {
    return std::string(Gemm<P>::Create(p).status().message());
  };
  EXPECT_EQ(message({.m = 8, .n = 8, .k = 7}),
            "gemm: k=7 is not a multiple of 2, the elements of one access; pad the matrix's lines "
            "(lda=8) or lower config.alignment with WithSrcAlignment");
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 8});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) double a[66] = {}, c[64];
  EXPECT_THAT(std::string(op->Run({.a = a + 1, .b = a, .c = c}, nullptr).message()),
              testing::HasSubstr("is not 16-byte aligned"));
}

}  // namespace
}  // namespace weft::gemm
