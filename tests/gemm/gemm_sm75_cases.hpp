// Matrix products through tensor cores of sm_75, whose halves no test with sm_80's kernels would compile for it.
#pragma once

#include <gtest/gtest.h>

#include "tests/gemm/product.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm {
namespace {

TEST(GemmSm75, Int8InAllLayouts) {
  ExpectAllLayouts<std::int8_t, std::int32_t, Sm75Tile<16, 4>>(25000);
}
TEST(GemmSm75, Half) {
  ExpectEachLayout<Half, float, Sm75Tile<16, 4>>(25100);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectEachLayout<Half, float, Sm75WideTile<16, 4>>(25200);
#endif
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmSm75, NarrowLoadsAndTheRoundingBound) {
  ExpectEachLayout<std::uint8_t, std::int32_t, Sm75WideTile<4, 4>>(25300);
  ExpectEachLayout<Half, float, Sm75Tile<4, 4>>(25400, false);
}
#endif
TEST(GemmSm75, Outputs) {
  using ToInt8 = Chain<Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  using ToHalf = Chain<Residual<Half>, Scale, Bias<>, Relu, RoundTo<Half>>;
  ExpectRandom<TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, ToInt8, Sm75Tile<16, 8>>>(
      25500);
  ExpectRandom<TypedGemm<std::int8_t, RowMajor, RowMajor, RowMajor, ToInt8, Sm75WideTile<16, 16>>>(
      25520);
  ExpectRandom<TypedGemm<Half, RowMajor, ColumnMajor, RowMajor, ToHalf, Sm75Tile<16, 16>>>(25540);
}

}  // namespace
}  // namespace weft::gemm
