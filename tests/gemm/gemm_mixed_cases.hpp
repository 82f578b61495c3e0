// Products of operands with load functors.
#pragma once

#include "tests/gemm/mixed_product.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm {

struct MixedLargeTile {
  static constexpr auto config = kMmaHalf128x128;
};

namespace {

// Each order of A and of B, and of C.
template <class Element, class LoadA, class LoadB, class Tile>
void ExpectMixedOrders(std::uint32_t seed, bool exact = true) {
  ExpectRandomMixed<MixedPolicy<Element, RowMajor, ColumnMajor, RowMajor, LoadA, LoadB, Tile>>(
      seed, exact);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectRandomMixed<MixedPolicy<Element, RowMajor, RowMajor, ColumnMajor, LoadA, LoadB, Tile>>(
      seed + 10, exact);
  ExpectRandomMixed<
      MixedPolicy<Element, ColumnMajor, ColumnMajor, ColumnMajor, LoadA, LoadB, Tile>>(seed + 20,
                                                                                       exact);
#endif
  ExpectRandomMixed<MixedPolicy<Element, ColumnMajor, RowMajor, RowMajor, LoadA, LoadB, Tile>>(
      seed + 30, exact);
}
template <class Element, class LoadA, class LoadB, class Tile>
void ExpectMixedLines(std::uint32_t seed, bool exact = true) {
  ExpectRandomMixed<MixedPolicy<Element, RowMajor, ColumnMajor, RowMajor, LoadA, LoadB, Tile>>(
      seed, exact);
}

TEST(GemmMixed, HalfByInt8) {
  ExpectMixedOrders<Half, NoLoad, Upcast<Half, std::int8_t>, HalfTile<16, 4>>(1000);
}
TEST(GemmMixed, Int8ByHalf) {
  ExpectMixedOrders<Half, Upcast<Half, std::int8_t>, NoLoad, HalfTile<8, 4>>(2000);
}
TEST(GemmMixed, HalfByInt4) {
  ExpectMixedOrders<Half, NoLoad, Upcast<Half, Int4>, HalfTile<16, 4>>(3000);
}
TEST(GemmMixed, Int4ByHalfWithNarrowLoads) {
  ExpectMixedOrders<Half, Upcast<Half, Int4>, NoLoad, HalfTile<4, 4>>(4000);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmMixed, WithBfloat16) {
  ExpectMixedLines<Bfloat16, NoLoad, Upcast<Bfloat16, std::int8_t>, HalfTile<4, 4>>(5000);
  ExpectMixedLines<Bfloat16, Upcast<Bfloat16, Int4>, NoLoad, HalfTile<16, 4>>(5020);
  using P = MixedPolicy<Bfloat16, ColumnMajor, RowMajor, RowMajor, Upcast<Bfloat16, Int4>,
                        Upcast<Bfloat16, std::uint8_t>, HalfTile<16, 4>>;
  ExpectRandomMixed<P>(5040);
}
TEST(GemmMixed, WithinTheRoundingBound) {
  ExpectMixedLines<Half, NoLoad, Upcast<Half, std::int8_t>, HalfTile<16, 4>>(6000, false);
  ExpectMixedLines<Bfloat16, Upcast<Bfloat16, Int4>, NoLoad, HalfTile<16, 4>>(6020, false);
}
#endif
// What is past the end of k is nothing even where a functor makes something of it on both sides.
TEST(GemmMixed, ZeroPoints) {
  using P = MixedPolicy<Half, RowMajor, ColumnMajor, RowMajor, LessZero<Half, std::uint8_t>,
                        LessZero<Half, Int4>, HalfTile<16, 4>>;
  ExpectRandomMixed<P>(7000);
#if !WEFT_ONE_OF_EACH_KIND
  using Q = MixedPolicy<Half, ColumnMajor, RowMajor, RowMajor, LessZero<Half, std::int8_t>,
                        LessZero<Half, Int4>, HalfTile<16, 4>>;
  ExpectRandomMixed<Q>(7020);
#endif
}
TEST(GemmMixed, OtherTypes) {
  ExpectMixedLines<Half, NoLoad, Upcast<Half, Float8E4m3>, HalfTile<16, 4>>(8000);
  ExpectMixedLines<std::int8_t, NoLoad, Upcast<std::int8_t, Int4>, MmaProductTile<16, 4>>(8020);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectMixedLines<std::uint8_t, NoLoad, Upcast<std::int8_t, Int4>, MmaProductTile<16, 4>>(8040);
#endif
}
TEST(GemmMixed, LargeTile) {
  using P = MixedPolicy<Half, RowMajor, ColumnMajor, RowMajor, NoLoad, Upcast<Half, Int4>,
                        MixedLargeTile, Chain<Scale, RoundTo<Half>>>;
  ExpectMixed<P>({.m = 150, .n = 264, .k = 97, .lda = 104, .ldb = 104}, 9000, true);
}
TEST(GemmMixed, Batch) {
  using P = MixedPolicy<Half, RowMajor, ColumnMajor, RowMajor, NoLoad, Upcast<Half, Int4>,
                        HalfTile<16, 4>>;
  ExpectMixed<P>({.m = 33, .n = 40, .k = 45, .lda = 48, .ldb = 56, .batch = 3}, 10000, true);
  ExpectMixed<P>({.m = 33, .n = 40, .k = 45, .lda = 48, .ldb = 56, .batch = 3, .stride_b = 0},
                 10001, true);
}
TEST(GemmMixed, Groups) {
  using P = Grouped<MixedPolicy<Half, RowMajor, ColumnMajor, RowMajor, NoLoad,
                                Upcast<Half, std::int8_t>, HalfTile<16, 4>>>;
  ExpectMixed<P>({.m = 90, .n = 40, .k = 40, .batch = 3}, 11000, true, {20, 20, 81});
  using Q = Grouped<MixedPolicy<Half, RowMajor, RowMajor, RowMajor, Upcast<Half, std::int8_t>,
                                NoLoad, HalfTile<16, 4>>>;
  ExpectMixed<Q>({.m = 90, .n = 40, .k = 40, .batch = 3}, 11001, true, {20, 70, 90});
}

}  // namespace
}  // namespace weft::gemm
