// Matrix products through the warpgroup products of sm_90a.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/gemm/product.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm {

namespace {

template <class Out, class Tile, class C = RowMajor>
using S8 = TypedGemm<std::int8_t, RowMajor, ColumnMajor, C, Out, Tile>;

TEST(GemmWgmma, Int8) {
  using Sums = Chain<ToSums<std::int32_t>>;
  ExpectRandom<S8<Sums, WgmmaTile<64, 64, 128, 64, 64, 4>>>(100);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectRandom<S8<Sums, WgmmaTile<80, 128, 256, 80, 64, 16, 1>>>(120, true, 8, 1500);
  ExpectRandom<S8<Sums, WgmmaTile<24, 64, 128, 24, 64, 4, 2>, ColumnMajor>>(140);
#endif
}

TEST(GemmWgmma, Int8Outputs) {
  using ToInt8 = Chain<Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  using ToFloats = Chain<Residual<float>, Scale, Bias<>, ToFloat>;
  using Tile = WgmmaTile<64, 64, 128, 32, 64, 8>;
  ExpectRandom<S8<ToInt8, Tile>>(200);
  ExpectRandom<S8<ToFloats, Tile>>(220);
#if !WEFT_ONE_OF_EACH_KIND
  using Added = Chain<Residual<std::int8_t>, Scale, ClampTo<std::int8_t>>;
  ExpectRandom<S8<Added, Tile>>(240);
#endif
  ExpectRandom<S8<ToInt8, WgmmaTile<64, 64, 128, 64, 64, 1>, ColumnMajor>>(260);
}

// A of unsigned bytes, B of signed ones.
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmWgmma, Uint8) {
  using Sums = Chain<ToSums<std::int32_t>>;
  using ToUint8 = Chain<Scale, Bias<>, Relu, ClampTo<std::uint8_t>>;
  ExpectRandom<TypedGemm<std::uint8_t, RowMajor, ColumnMajor, RowMajor, Sums,
                         WgmmaTile<64, 64, 128, 64, 64, 4>>>(280);
  ExpectRandom<TypedGemm<std::uint8_t, RowMajor, ColumnMajor, ColumnMajor, ToUint8,
                         WgmmaTile<64, 128, 128, 32, 64, 1>>>(290);
}
#endif

TEST(GemmWgmma, LargeTiles) {
  using Sums = Chain<ToSums<std::int32_t>>;
  const GemmProblem p = {.m = 300, .n = 516, .k = 400};
#if !WEFT_ONE_OF_EACH_KIND
  ExpectProduct<S8<Sums, WgmmaTile<224, 128, 128, 224, 64, 16>>>(p, 301, true);
  ExpectProduct<S8<Sums, WgmmaTile<128, 256, 128, 128, 128, 16>>>(p, 302, true);
#endif
  ExpectProduct<S8<Sums, WgmmaTile<256, 128, 128, 256, 64, 16>>>(p, 303, true);
}

// Of 16-bit floats every operand may run along k or across it.
template <class Element, class Tile>
void ExpectSixteenBit(std::uint32_t seed) {
  ExpectAllLayouts<Element, float, Tile>(seed);
  ExpectAllLayouts<Element, float, Tile>(seed + 50, false);
}

TEST(GemmWgmma, Half) {
  ExpectSixteenBit<Half, WgmmaTile<64, 64, 64, 64, 64, 4>>(400);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmWgmma, Bfloat16) {
  using Tile = WgmmaTile<128, 128, 128, 64, 64, 4>;
  ExpectEachLayout<Bfloat16, float, Tile>(500);
  ExpectEachLayout<Bfloat16, float, Tile>(550, false);
}
TEST(GemmWgmma, HalfOfRaggedTiles) {
  ExpectSums<Half, float, ColumnMajor, RowMajor, RowMajor, WgmmaTile<112, 64, 32, 112, 64, 4, 2>>(
      600, true);
  ExpectSums<Half, float, RowMajor, ColumnMajor, RowMajor, WgmmaTile<48, 64, 32, 24, 64, 4>>(610,
                                                                                             true);
}
#endif
// Sets of ping-pong warpgroups, of one and of two.
TEST(GemmWgmma, PingPong) {
  using ToInt8 = Chain<Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  using Sums = Chain<ToSums<std::int32_t>>;
  ExpectRandom<S8<Sums, PingPong<WgmmaTile<64, 64, 128, 64, 64, 4>>>>(630);
  ExpectRandom<S8<ToInt8, PingPong<WgmmaTile<32, 64, 64, 32, 64, 8, 2>>>>(635);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectSums<Half, float, ColumnMajor, RowMajor, RowMajor,
             PingPong<WgmmaTile<64, 128, 32, 64, 64, 4>>>(640, true);
#endif
}

// A tile's k tiles divided among the blocks of a cluster, which then need not be as many.
TEST(GemmWgmma, Split) {
  using ToInt8 = Chain<Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  ExpectRandom<S8<Chain<ToSums<std::int32_t>>, WgmmaTile<64, 64, 32, 64, 64, 4, 1, 8>>>(650);
  ExpectRandom<S8<ToInt8, WgmmaTile<128, 64, 128, 64, 64, 1, 1, 4>, ColumnMajor>>(660);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectSums<Half, float, ColumnMajor, RowMajor, RowMajor, WgmmaTile<64, 64, 32, 64, 64, 4, 2, 4>>(
      670, true);
  ExpectSums<Bfloat16, float, RowMajor, ColumnMajor, RowMajor,
             WgmmaTile<96, 64, 32, 48, 64, 4, 1, 2>>(680, true);
#endif
}
TEST(GemmWgmma, SixteenBitOutputs) {
  using ToHalf = Chain<Scale, Bias<>, Relu, RoundTo<Half>>;
  using Tile = WgmmaTile<64, 64, 64, 64, 64, 16>;
  ExpectRandom<TypedGemm<Half, RowMajor, ColumnMajor, RowMajor, ToHalf, Tile>>(700);
}
// Stores of 1 to 8 elements, rows that are no multiple of 32, sets in turn, parts of clusters; and, where C's rows
// lie side by side, single elements.
TEST(GemmWgmma, SixteenBitOutputsOfEveryTile) {
  using ToHalf = Chain<Scale, Bias<>, Relu, RoundTo<Half>>;
  ExpectRandom<TypedGemm<Half, RowMajor, ColumnMajor, RowMajor, ToHalf,
                         WgmmaTile<24, 64, 64, 24, 64, 2, 2>>>(710);
#if !WEFT_ONE_OF_EACH_KIND
  using ToBfloat16 = Chain<Scale, RoundTo<Bfloat16>>;
  ExpectRandom<TypedGemm<Bfloat16, ColumnMajor, RowMajor, RowMajor, ToBfloat16,
                         WgmmaTile<80, 128, 64, 80, 64, 4, 1>>>(720);
  ExpectRandom<TypedGemm<Half, RowMajor, RowMajor, RowMajor, ToHalf,
                         PingPong<WgmmaTile<64, 128, 32, 64, 64, 8>>>>(730);
  ExpectRandom<TypedGemm<Half, RowMajor, ColumnMajor, RowMajor, ToHalf,
                         WgmmaTile<64, 64, 32, 64, 64, 16, 1, 4>>>(740);
  ExpectRandom<TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, ToHalf,
                         WgmmaTile<128, 128, 128, 128, 128, 16>>>(750);
#endif
  ExpectRandom<TypedGemm<Half, RowMajor, ColumnMajor, ColumnMajor, ToHalf,
                         WgmmaTile<64, 64, 64, 64, 64, 2>>>(760);
}
// C = alpha A B + gamma C.
TEST(GemmWgmma, SixteenBitOutputsInPlace) {
  using Update = Chain<Residual<Half>, Scale, RoundTo<Half>>;
  using P =
      TypedGemm<Half, RowMajor, ColumnMajor, RowMajor, Update, WgmmaTile<64, 128, 64, 64, 64, 16>>;
  ExpectProduct<P>({.m = 150, .n = 200, .k = 96}, 770, true, true);
}

TEST(GemmWgmma, BadInput) {
  using testing::HasSubstr;
  using P = S8<Chain<ToSums<std::int32_t>>, WgmmaTile<64, 64, 128, 64, 64, 4>>;
  EXPECT_THAT(std::string(Gemm<P>::Create({.m = 8, .n = 8, .k = 20}).status().message()),
              HasSubstr("k=20 is not a multiple of 16"));
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 16});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) std::int8_t a[128] = {};
  alignas(16) std::int32_t c[64];
  EXPECT_THAT(std::string(op->Run({.a = a + 4, .b = a, .c = c}, nullptr).message()),
              HasSubstr("is not 16-byte aligned; allocate it with that alignment"));
}

}  // namespace
}  // namespace weft::gemm
