// Products whose B is of int8 or int4 through wgmma_sm90, which takes its columns from registers.
#pragma once

#include "tests/gemm/mixed_product.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm {

namespace {

template <class Element, class From, class A, class Tile, class Epilogue = Chain<ToSums<float>>,
          class C = RowMajor, class B = ColumnMajor>
using UpcastB = MixedPolicy<Element, A, B, C, NoLoad, Upcast<Element, From>, Tile, Epilogue>;
template <class Element, class From, class Tile, class B = ColumnMajor>
void ExpectUpcastProducts(std::uint32_t seed, bool exact = true) {
  using Epilogue = Chain<ToSums<float>>;
  ExpectRandomMixed<UpcastB<Element, From, RowMajor, Tile, Epilogue, RowMajor, B>>(seed, exact);
#if !WEFT_ONE_OF_EACH_KIND  // the layout of A is that of products that upcast nothing
  ExpectRandomMixed<UpcastB<Element, From, ColumnMajor, Tile, Epilogue, RowMajor, B>>(seed + 10,
                                                                                      exact);
#endif
}

// Lines of 64, 128 and 32 bytes of B; one block of 64 columns to a warpgroup, and two.
TEST(GemmWgmmaMixed, HalfByInt8) {
  ExpectUpcastProducts<Half, std::int8_t, WgmmaTile<64, 64, 64, 64, 64, 4>>(100);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectUpcastProducts<Half, std::int8_t, WgmmaTile<64, 128, 128, 64, 128, 4>>(200);
  ExpectUpcastProducts<Half, std::int8_t, WgmmaTile<64, 128, 32, 64, 64, 4>>(300);
#endif
}
TEST(GemmWgmmaMixed, HalfByInt4) {
#if !WEFT_ONE_OF_EACH_KIND
  ExpectUpcastProducts<Half, Int4, WgmmaTile<64, 128, 64, 64, 64, 4>>(400);
  ExpectUpcastProducts<Half, Int4, WgmmaTile<64, 64, 128, 64, 64, 4>>(500);
#endif
  ExpectUpcastProducts<Half, Int4, WgmmaTile<128, 128, 256, 64, 128, 4>>(600);
}
// A row-major B: lines of 64 columns, in copies of which a warpgroup has one or two.
template <class Element, class From, class A, class Tile, class Epilogue = Chain<ToSums<float>>,
          class C = RowMajor>
using MnMajor = UpcastB<Element, From, A, Tile, Epilogue, C, RowMajor>;
template <class Element, class From, class Tile>
void ExpectMnMajor(std::uint32_t seed, bool exact = true) {
  ExpectUpcastProducts<Element, From, Tile, RowMajor>(seed, exact);
}
TEST(GemmWgmmaMixed, RowMajorB) {
  ExpectMnMajor<Half, std::int8_t, WgmmaTile<64, 256, 32, 64, 128, 4>>(2100);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectMnMajor<Half, std::int8_t, WgmmaTile<64, 64, 64, 64, 64, 4>>(2000);
  ExpectMnMajor<Half, Int4, WgmmaTile<64, 128, 64, 64, 64, 4>>(2200);
  ExpectMnMajor<Half, Int4, WgmmaTile<64, 128, 48, 64, 128, 4>>(2300);
  ExpectMnMajor<Bfloat16, std::int8_t, WgmmaTile<64, 64, 64, 64, 64, 4>>(2400, false);
  ExpectMnMajor<Bfloat16, Int4, WgmmaTile<64, 64, 64, 64, 64, 4>>(2500);
#endif
  ExpectMnMajor<Half, Int4, PingPong<WgmmaTile<64, 64, 64, 64, 64, 4>>>(2600);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectMnMajor<Half, std::int8_t, WgmmaTile<32, 64, 128, 32, 64, 4, 2, 4>>(2700);
  using ToHalf = Chain<Scale, RoundTo<Half>>;
  using Tile = WgmmaTile<64, 128, 64, 64, 64, 2>;
  ExpectRandomMixed<MnMajor<Half, Int4, RowMajor, Tile, ToHalf>>(2800);
  ExpectRandomMixed<MnMajor<Half, std::int8_t, RowMajor, Tile, ToHalf, ColumnMajor>>(2810);
  using P = MnMajor<Half, Int4, RowMajor, WgmmaTile<64, 64, 64, 64, 64, 4>>;
  ExpectMixed<P>({.m = 33, .n = 45, .k = 40, .lda = 48, .ldb = 64, .batch = 3}, 2900, true);
  ExpectMixed<Grouped<P>>({.m = 90, .n = 64, .k = 40, .batch = 3}, 2901, true, {20, 20, 81});
#endif
}
// A narrow A, upcast in shared memory: rows or k along memory.
template <class Element, class From, class A, class B, class Tile,
          class Epilogue = Chain<ToSums<float>>, class C = RowMajor>
using NarrowA = MixedPolicy<Element, A, B, C, Upcast<Element, From>, NoLoad, Tile, Epilogue>;
template <class Element, class From, class Tile>
void ExpectNarrowA(std::uint32_t seed, bool exact = true) {
  ExpectRandomMixed<NarrowA<Element, From, RowMajor, ColumnMajor, Tile>>(seed, exact);
  ExpectRandomMixed<NarrowA<Element, From, ColumnMajor, RowMajor, Tile>>(seed + 10, exact);
}
TEST(GemmWgmmaMixed, NarrowA) {
  ExpectNarrowA<Half, std::int8_t, WgmmaTile<192, 64, 64, 64, 64, 4>>(3100);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectNarrowA<Half, Int4, WgmmaTile<64, 64, 64, 64, 64, 4, 2, 2>>(3300);
  ExpectNarrowA<Half, std::int8_t, WgmmaTile<64, 64, 64, 64, 64, 4>>(3000);
  ExpectNarrowA<Half, Int4, WgmmaTile<128, 128, 64, 128, 64, 4>>(3200);
  ExpectNarrowA<Bfloat16, std::int8_t, WgmmaTile<64, 64, 64, 64, 64, 4>>(3400, false);
#endif
  ExpectNarrowA<Bfloat16, Int4, PingPong<WgmmaTile<64, 64, 64, 64, 64, 4>>>(3500);
#if !WEFT_ONE_OF_EACH_KIND
  using ToHalf = Chain<Scale, RoundTo<Half>>;
  using Tile = WgmmaTile<64, 128, 64, 64, 64, 2>;
  ExpectRandomMixed<
      NarrowA<Half, std::int8_t, ColumnMajor, ColumnMajor, Tile, ToHalf, ColumnMajor>>(3610);
  ExpectRandomMixed<NarrowA<Half, Int4, RowMajor, RowMajor, Tile, ToHalf>>(3600);
  ExpectRandomMixed<NarrowA<Half, Int4, RowMajor, RowMajor, WgmmaTile<96, 64, 64, 48, 64, 4>>>(
      3620);
  using P = NarrowA<Half, Int4, RowMajor, ColumnMajor, WgmmaTile<64, 64, 64, 64, 64, 4>>;
  ExpectMixed<P>({.m = 33, .n = 40, .k = 45, .lda = 64, .ldb = 48, .batch = 3}, 3700, true);
  ExpectMixed<Grouped<P>>({.m = 90, .n = 40, .k = 64, .batch = 3}, 3701, true, {20, 20, 81});
#endif
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmWgmmaMixed, Bfloat16) {
  ExpectUpcastProducts<Bfloat16, std::int8_t, WgmmaTile<64, 64, 64, 64, 64, 4>>(700);
  ExpectUpcastProducts<Bfloat16, Int4, WgmmaTile<64, 64, 64, 64, 64, 4>>(800);
}
TEST(GemmWgmmaMixed, WithinTheRoundingBound) {
  ExpectUpcastProducts<Half, std::int8_t, WgmmaTile<64, 64, 64, 64, 64, 4>>(900, false);
  ExpectUpcastProducts<Bfloat16, Int4, WgmmaTile<64, 64, 64, 64, 64, 4>>(950, false);
}
#endif
TEST(GemmWgmmaMixed, PingPongAndSplit) {
  ExpectUpcastProducts<Half, std::int8_t, PingPong<WgmmaTile<64, 128, 64, 64, 128, 4>>>(1000);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectUpcastProducts<Half, Int4, PingPong<WgmmaTile<64, 64, 64, 64, 64, 4>>>(1100);
#endif
  ExpectUpcastProducts<Half, Int4, WgmmaTile<64, 64, 64, 64, 64, 4, 1, 2>>(1200);
}
TEST(GemmWgmmaMixed, Outputs) {
  using ToHalf = Chain<Scale, RoundTo<Half>>;
  using Tile = WgmmaTile<64, 128, 64, 64, 64, 2>;
  ExpectRandomMixed<UpcastB<Half, Int4, RowMajor, Tile, ToHalf>>(1300);
  ExpectRandomMixed<UpcastB<Half, std::int8_t, RowMajor, Tile, ToHalf, ColumnMajor>>(1310);
}
TEST(GemmWgmmaMixed, BatchAndGroups) {
  using P = UpcastB<Half, Int4, RowMajor, WgmmaTile<64, 64, 64, 64, 64, 4>>;
  ExpectMixed<P>({.m = 33, .n = 40, .k = 45, .lda = 48, .ldb = 64, .batch = 3}, 1400, true);
  ExpectMixed<P>({.m = 33, .n = 40, .k = 45, .lda = 48, .ldb = 64, .batch = 3, .stride_b = 0}, 1401,
                 true);
  ExpectMixed<Grouped<P>>({.m = 90, .n = 40, .k = 64, .batch = 3}, 1402, true, {20, 20, 81});
}

TEST(GemmWgmmaMixed, BadInput) {
  using P = UpcastB<Half, Int4, RowMajor, WgmmaTile<64, 64, 64, 64, 64, 4>>;
  EXPECT_THAT(std::string(Gemm<P>::Create({.m = 8, .n = 8, .k = 48}).status().message()),
              testing::HasSubstr("k=48 is not a multiple of 32"));
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 32});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) Half a[256] = {};
  alignas(16) std::uint8_t b[144] = {};
  alignas(16) float c[64];
  EXPECT_THAT(std::string(op->Run({.a = a, .b = b + 8, .c = c}, nullptr).message()),
              testing::HasSubstr("is not 16-byte aligned"));
}

}  // namespace
}  // namespace weft::gemm
