// Gemm of every element type, layout and mainloop, but for wgmma_sm90.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/gemm/product.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm {
namespace {

TEST(GemmInt8, TensorCoresInAllLayouts) {
  ExpectAllLayouts<std::int8_t, std::int32_t, MmaProductTile<16, 4>>(1000);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmInt8, TensorCoresWithManyThreads) {
  using Tile = MmaWideTile<16, 16>;
  ExpectSums<std::int8_t, std::int32_t, RowMajor, ColumnMajor, RowMajor, Tile>(3000, true, 8, 1500);
  ExpectSums<std::int8_t, std::int32_t, ColumnMajor, RowMajor, RowMajor, Tile>(3010, true, 8, 1500);
}
#endif
TEST(GemmInt8, NarrowLoadsAndKTilesShared) {
  ExpectEachLayout<std::int8_t, std::int32_t, MmaSlicedTile<4, 4>>(3500);
}
TEST(GemmInt8, Dp4aInAllLayouts) {
  ExpectAllLayouts<std::int8_t, std::int32_t, Dp4aTile<4, 4>>(4000);
}
TEST(GemmInt8, Outputs) {
  using ToInt8 = Chain<Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  using ToFloats = Chain<Residual<float>, Scale, Bias<>, ToFloat>;
  using Tile = MmaProductTile<16, 8>;
  ExpectRandom<TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, ToInt8, Tile>>(5000);
  ExpectRandom<TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, ToFloats, Tile>>(5020);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectRandom<TypedGemm<std::int8_t, ColumnMajor, RowMajor, RowMajor, ToInt8, Tile>>(5040);
  ExpectRandom<TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor,
                         Chain<Residual<std::int8_t>, Scale, ClampTo<std::int8_t>>, Tile>>(5060);
#endif
}

#if !WEFT_ONE_OF_EACH_KIND
// A of unsigned bytes, B of signed ones.
TEST(GemmUint8, TensorCores) {
  ExpectEachLayout<std::uint8_t, std::int32_t, MmaSlicedTile<16, 4>>(5100);
}
TEST(GemmUint8, Dp4a) {
  ExpectEachLayout<std::uint8_t, std::int32_t, Dp4aTile<4, 4>>(5300);
}
TEST(GemmUint8, Outputs) {
  using ToUint8 = Chain<Scale, Bias<>, Relu, ClampTo<std::uint8_t>>;
  ExpectRandom<
      TypedGemm<std::uint8_t, RowMajor, ColumnMajor, RowMajor, ToUint8, MmaProductTile<16, 8>>>(
      5400);
}
#endif

TEST(GemmHalf, ExactIntegersInAllLayouts) {
  ExpectAllLayouts<Half, float, HalfTile<16, 4>>(6000);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmHalf, WithinTheRoundingBound) {
  ExpectEachLayout<Half, float, HalfTile<8, 4>>(7000, false);
}
TEST(GemmBfloat16, ExactIntegers) {
  ExpectEachLayout<Bfloat16, float, HalfTile<4, 4>>(8000);
}
TEST(GemmBfloat16, WithinTheRoundingBound) {
  ExpectEachLayout<Bfloat16, float, HalfTile<4, 4>>(9000, false);
}
TEST(GemmHalf, WarpsShareKTiles) {
  using Tile = MmaSlicedTile<4, 4>;
  ExpectSums<Half, float, RowMajor, ColumnMajor, RowMajor, Tile>(9500, true, 8, 500);
  ExpectSums<Half, float, RowMajor, ColumnMajor, RowMajor, Tile>(9510, false, 8, 500);
}
#endif
TEST(GemmHalf, SixteenBitOutputs) {
  using ToHalf = Chain<Scale, Bias<>, Relu, RoundTo<Half>>;
  using Tile = HalfTile<16, 16>;
  ExpectRandom<TypedGemm<Half, RowMajor, ColumnMajor, RowMajor, ToHalf, Tile>>(10000);
#if !WEFT_ONE_OF_EACH_KIND
  using ToBfloat16 = Chain<Scale, RoundTo<Bfloat16>>;
  ExpectRandom<TypedGemm<Bfloat16, RowMajor, RowMajor, RowMajor, ToBfloat16, Tile>>(10020);
#endif
  ExpectRandom<TypedGemm<Half, RowMajor, RowMajor, ColumnMajor, ToHalf, HalfTile<16, 2>>>(10040);
}

// mma_sm80 of what wgmma_sm90 multiplies in one order only.
TEST(GemmFloat8, ExactIntegers) {
  ExpectEachLayout<Float8E4m3, float, MmaProductTile<16, 4>>(26000);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectEachLayout<Float8E5m2, float, MmaWideTile<4, 4>>(26100);
#endif
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmFloat8, WithinTheRoundingBound) {
  ExpectEachLayout<Float8E4m3, float, MmaSlicedTile<16, 4>>(26200, false);
  ExpectEachLayout<Float8E5m2, float, MmaWideTile<4, 4>>(26300, false);
}
#endif
TEST(GemmTf32, ExactIntegersInAllLayouts) {
  ExpectAllLayouts<Tf32, float, HalfTile<16, 4>>(26400);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectEachLayout<Tf32, float, Tf32WideTile<16, 4>>(26500);
#endif
}
TEST(GemmTf32, NarrowLoadsAndKTilesShared) {
#if !WEFT_ONE_OF_EACH_KIND
  ExpectEachLayout<Tf32, float, Tf32NarrowTile<4, 4>>(26600);
#endif
  ExpectEachLayout<Tf32, float, MmaSlicedTile<8, 4>>(26700);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmTf32, WithinTheRoundingBound) {
  ExpectAllLayouts<Tf32, float, HalfTile<16, 4>>(26800, false);
}
TEST(GemmTf32, Outputs) {
  using ToHalf = Chain<Scale, Bias<>, Relu, RoundTo<Half>>;
  using Update = Chain<Residual<float>, Scale, Bias<>, ToFloat>;
  ExpectRandom<TypedGemm<Tf32, RowMajor, RowMajor, RowMajor, ToHalf, HalfTile<16, 4>>>(26900);
  ExpectRandom<TypedGemm<Tf32, ColumnMajor, RowMajor, RowMajor, Update, HalfTile<16, 8>>>(26920);
}
#endif

TEST(GemmFloat, AllLayouts) {
  ExpectAllLayouts<float, float, FmaTile<4, 4>>(11000, false);
}
TEST(GemmFloat, SixteenByteLoadsAndKTilesShared) {
  ExpectEachLayout<float, float, SlicedFmaTile<16, 4>>(11500, false);
}
TEST(GemmFloat, LargeTileScaledAndAddedInPlace) {
  using Update = Chain<Residual<float>, Scale, Relu, ToFloat>;
  using P = TypedGemm<float, RowMajor, ColumnMajor, RowMajor, Update, LargeFmaTile>;
  ExpectProduct<P>({.m = 150, .n = 204, .k = 96}, 13000, false, true);
  using Q = TypedGemm<float, ColumnMajor, RowMajor, RowMajor, Update, LargeFmaTile>;
  ExpectProduct<Q>({.m = 140, .n = 132, .k = 100}, 13001, false, true);
}
TEST(GemmFloat, AsyncInAllLayouts) {
  ExpectAllLayouts<float, float, AsyncFmaTile<16, 4>>(16000, false);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmFloat, AsyncWithNarrowLoads) {
  ExpectEachLayout<float, float, AsyncWideTile<4, 4>>(17000, false);
}
#endif
TEST(GemmFloat, AsyncWarpsShareKTiles) {
  ExpectEachLayout<float, float, AsyncSlicedTile<16, 4>>(17500, false);
}
TEST(GemmFloat, AsyncScaledAndAddedInPlace) {
  using Update = Chain<Residual<float>, Scale, Bias<>, Relu, ToFloat>;
  using P = TypedGemm<float, RowMajor, ColumnMajor, RowMajor, Update, AsyncLargeTile>;
  ExpectProduct<P>({.m = 150, .n = 260, .k = 96}, 18000, false, true);
  using Q = TypedGemm<float, ColumnMajor, RowMajor, RowMajor, Update, AsyncLargeTile>;
  ExpectProduct<Q>({.m = 140, .n = 132, .k = 100}, 18001, false, true);
#if !WEFT_ONE_OF_EACH_KIND
  using ToInt8 = Chain<Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  using R = TypedGemm<float, RowMajor, RowMajor, RowMajor, ToInt8, AsyncFmaTile<16, 4>>;
  ExpectRandom<R>(18010, false);
#endif
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmFloat, AsyncWithFewerKTilesThanStages) {
  using P =
      TypedGemm<float, RowMajor, ColumnMajor, RowMajor, Chain<ToSums<float>>, AsyncWideTile<4, 4>>;
  for (const int k : {1, 15, 16, 17, 32, 33, 48, 64}) {
    ExpectProduct<P>({.m = 33, .n = 132, .k = k, .lda = 64}, 19000 + k, false);
  }
}
#endif
TEST(GemmDouble, Async) {
  ExpectEachLayout<double, double, AsyncFmaTile<16, 8>>(20000, false);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectEachLayout<double, double, AsyncWideTile<8, 8>>(21000, false);
#endif
  ExpectSums<double, double, RowMajor, ColumnMajor, RowMajor, AsyncSlicedTile<16, 8>>(21500, false);
}
TEST(GemmDouble, EightByteAndSixteenByteLoads) {
  ExpectSums<double, double, RowMajor, ColumnMajor, RowMajor, FmaTile<8, 8>>(14000, false, 12);
  ExpectSums<double, double, ColumnMajor, RowMajor, ColumnMajor, FmaTile<16, 8>>(14010, false, 12);
}

TEST(GemmTypes, BadInput) {
  using testing::HasSubstr;
  using P = TypedGemm<Half, ColumnMajor, RowMajor, RowMajor, Chain<ToSums<float>>, HalfTile<16, 4>>;
  const auto message = [](const GemmProblem& p) {
    return std::string(Gemm<P>::Create(p).status().message());
  };
  EXPECT_EQ(message({.m = 12, .n = 8, .k = 7}),
            "gemm: m=12 is not a multiple of 8, the elements of one access; pad the matrix's lines "
            "(lda=16) or lower config.alignment with WithSrcAlignment");
  EXPECT_EQ(message({.m = 16, .n = 8, .k = 7, .ldb = 4}),
            "gemm: ldb=4 is less than n=8, the elements that it steps over");
  EXPECT_THAT(message({.m = 16, .n = 8, .k = 1 << 30}), HasSubstr("split the product"));
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 1});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) Half a[64] = {};
  alignas(16) float c[64];
  alignas(16) std::int8_t residual[64] = {};
  const typename Gemm<P>::Arguments args = {.a = a, .b = a, .residual = residual, .c = c};
  EXPECT_THAT(std::string(op->Run(args, nullptr).message()), HasSubstr("args.residual is set"));
  EXPECT_THAT(std::string(op->Run({.a = a + 1, .b = a, .c = c}, nullptr).message()),
              HasSubstr("is not 16-byte aligned"));
}

}  // namespace
}  // namespace weft::gemm
