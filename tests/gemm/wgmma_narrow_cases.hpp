// Matrix products of 8-bit floats and of tf32 through wgmma_sm90.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/gemm/product.hpp"
#include "tests/kinds.hpp"
#include "weft/gemm/dispatch.hpp"
#include "weft/gemm/ready_made.hpp"

namespace weft::gemm {

namespace {

using Sums = Chain<ToSums<float>>;
template <class Element, class Out, class Tile, class C = RowMajor>
using Narrow = TypedGemm<Element, RowMajor, ColumnMajor, C, Out, Tile>;

TEST(GemmWgmmaNarrow, E4m3) {
  ExpectRandom<Narrow<Float8E4m3, Sums, WgmmaTile<64, 64, 128, 64, 64, 4>>>(100);
  ExpectRandom<Narrow<Float8E4m3, Sums, WgmmaTile<112, 128, 256, 112, 64, 4>, ColumnMajor>>(
      120, true, 6, 600);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmWgmmaNarrow, E5m2) {
  ExpectRandom<Narrow<Float8E5m2, Sums, WgmmaTile<96, 64, 64, 48, 64, 4, 2>>>(140, true, 12);
  ExpectRandom<Narrow<Float8E5m2, Sums, WgmmaTile<64, 64, 128, 64, 64, 4, 1, 4>>>(160, true, 6,
                                                                                  1500);
}
TEST(GemmWgmmaNarrow, WithinTheRoundingBound) {
  ExpectRandom<Narrow<Float8E4m3, Sums, WgmmaTile<64, 64, 128, 64, 64, 4>>>(180, false, 6);
  ExpectRandom<Narrow<Float8E5m2, Sums, WgmmaTile<96, 64, 64, 48, 64, 4, 2>>>(190, false, 6);
  ExpectRandom<Narrow<Tf32, Sums, WgmmaTile<64, 64, 32, 64, 64, 4>>>(300, false, 6);
}
#endif
TEST(GemmWgmmaNarrow, Tf32) {
  ExpectRandom<Narrow<Tf32, Sums, WgmmaTile<64, 64, 32, 64, 64, 4>>>(310);
  ExpectRandom<Narrow<Tf32, Sums, WgmmaTile<80, 128, 64, 80, 64, 4>, ColumnMajor>>(330, true, 6);
  ExpectRandom<Narrow<Tf32, Sums, WgmmaTile<64, 64, 16, 32, 64, 4, 2, 2>>>(350, true, 6);
}
// Operands that are MN-major, which a warp transposes once they have come: one, or both.
template <class Element, class A, class B, class Tile, class Out, class C = RowMajor>
using TransposedOf = TypedGemm<Element, A, B, C, Out, Tile>;
template <class A, class B, class Tile, class C = RowMajor, class Out = Sums>
using Transposed = TransposedOf<Tf32, A, B, Tile, Out, C>;
TEST(GemmWgmmaNarrow, Tf32InAllLayouts) {
  using Tile = WgmmaTile<64, 64, 32, 64, 64, 4>;
  ExpectRandom<Transposed<RowMajor, RowMajor, Tile>>(400);
  ExpectRandom<Transposed<ColumnMajor, ColumnMajor, Tile>>(420);
  ExpectRandom<Transposed<ColumnMajor, RowMajor, Tile>>(440);
  ExpectRandom<Transposed<ColumnMajor, RowMajor, Tile, ColumnMajor>>(460, false, 6);
}
TEST(GemmWgmmaNarrow, Tf32TransposedInOtherTiles) {
  ExpectRandom<Transposed<ColumnMajor, RowMajor, WgmmaTile<96, 64, 32, 48, 64, 4, 2>>>(480, true, 6,
                                                                                       600);
  ExpectRandom<Transposed<RowMajor, RowMajor, WgmmaTile<176, 128, 32, 176, 64, 4>>>(500, true, 6);
  ExpectRandom<Transposed<ColumnMajor, ColumnMajor, WgmmaTile<64, 64, 32, 64, 64, 4, 1, 4>>>(
      520, true, 6, 1500);
  ExpectRandom<Transposed<ColumnMajor, RowMajor, PingPong<WgmmaTile<64, 64, 32, 64, 64, 4>>>>(
      540, true, 6);
}
TEST(GemmWgmmaNarrow, Tf32TransposedOutputs) {
  using ToHalf = Chain<Scale, Bias<>, Relu, RoundTo<Half>>;
  ExpectRandom<
      Transposed<ColumnMajor, RowMajor, WgmmaTile<64, 64, 32, 64, 64, 2>, RowMajor, ToHalf>>(
      560, true, 8);
}
// Likewise of bytes, whose boxes have 128 rows, transposed as far as a tile has them.
TEST(GemmWgmmaNarrow, BytesInAllLayouts) {
  using Tile = WgmmaTile<64, 128, 128, 64, 64, 4>;
  using Int32 = Chain<ToSums<std::int32_t>>;
  ExpectRandom<TransposedOf<std::int8_t, RowMajor, RowMajor, Tile, Int32>>(600, true, 8);
  ExpectRandom<TransposedOf<std::int8_t, ColumnMajor, ColumnMajor, Tile, Int32>>(620, true, 8);
  ExpectRandom<TransposedOf<std::uint8_t, ColumnMajor, RowMajor, Tile, Int32>>(640, true, 8);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectRandom<TransposedOf<Float8E4m3, RowMajor, RowMajor, Tile, Sums, ColumnMajor>>(660, true, 8);
  ExpectRandom<TransposedOf<Float8E5m2, ColumnMajor, ColumnMajor, Tile, Sums>>(680, false, 8);
#endif
}
TEST(GemmWgmmaNarrow, BytesTransposedInOtherTiles) {
  using Int8 = epilogues::BiasRelu<>;
  using Int32 = Chain<ToSums<std::int32_t>>;
  ExpectRandom<
      TransposedOf<std::int8_t, ColumnMajor, RowMajor, WgmmaTile<96, 64, 128, 48, 64, 1, 2>, Int8>>(
      700, true, 6, 600);
  ExpectRandom<
      TransposedOf<std::int8_t, ColumnMajor, RowMajor, WgmmaTile<144, 64, 128, 144, 64, 4>, Int32>>(
      720, true, 6, 600);
  ExpectRandom<TransposedOf<std::int8_t, ColumnMajor, RowMajor,
                            WgmmaTile<32, 128, 128, 32, 64, 1, 1, 4>, Int8>>(740, true, 6, 1500);
  ExpectRandom<TransposedOf<std::uint8_t, ColumnMajor, RowMajor,
                            PingPong<WgmmaTile<64, 64, 128, 64, 64, 4>>, Int32>>(760, true, 6, 600);
}
// What the lower 13 bits hold, in either operand, is lost.
TEST(GemmWgmmaNarrow, Tf32Truncates) {
  using P = Narrow<Tf32, Sums, WgmmaTile<64, 64, 32, 64, 64, 4>>;
  const auto op = Gemm<P>::Create({.m = 1, .n = 1, .k = 4, .ldc = 4});
  ASSERT_TRUE(op.ok()) << op.status();
  const OperatorMemory<float> a({0x1.006p0f, -0x1.002p0f, -0x1.fffffep0f, 1.0f});
  const OperatorMemory<float> b({1.0f, 1.0f, 1.0f, 0x1.003ffep0f}), c({7.0f, 8.0f, 9.0f, 10.0f});
  RunHere(*op, {.a = a.get(), .b = b.get(), .c = c.get()}, 0);
  // 1 + 2^-10 - 1 - (2 - 2^-10) + 1
  EXPECT_EQ(c.Read(), std::vector<float>({-1.0f + 0x1p-9f, 8.0f, 9.0f, 10.0f}));
}
TEST(GemmWgmmaNarrow, Outputs) {
  using ToHalf = Chain<Scale, Bias<>, Relu, RoundTo<Half>>;
  using ToFloats = Chain<Residual<float>, Scale, Bias<>, ToFloat>;
  ExpectRandom<Narrow<Float8E4m3, ToHalf, WgmmaTile<64, 64, 128, 64, 64, 2>>>(200, true, 8);
  ExpectRandom<Narrow<Float8E5m2, Chain<Scale, RoundTo<Bfloat16>>,
                      WgmmaTile<64, 64, 128, 64, 64, 2>, ColumnMajor>>(220, true, 8);
  ExpectRandom<Narrow<Float8E4m3, ToFloats, WgmmaTile<64, 64, 128, 64, 64, 4>>>(240, true, 8);
}

TEST(GemmWgmmaNarrow, BadInput) {
  using testing::HasSubstr;
  using P = Narrow<Float8E4m3, Sums, WgmmaTile<64, 64, 128, 64, 64, 4>>;
  EXPECT_THAT(std::string(Gemm<P>::Create({.m = 8, .n = 8, .k = 20}).status().message()),
              HasSubstr("k=20 is not a multiple of 16"));
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 16});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) Float8E4m3 a[128] = {};
  alignas(16) float c[64];
  EXPECT_THAT(std::string(op->Run({.a = a + 4, .b = a, .c = c}, nullptr).message()),
              HasSubstr("is not 16-byte aligned; allocate it with that alignment"));
  using Q = Narrow<Tf32, Sums, WgmmaTile<64, 64, 32, 64, 64, 4>>;
  EXPECT_THAT(std::string(Gemm<Q>::Create({.m = 8, .n = 8, .k = 6}).status().message()),
              HasSubstr("k=6 is not a multiple of 4"));
}

}  // namespace
}  // namespace weft::gemm
