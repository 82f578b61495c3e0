// gemm::Block by wgmma on the back end at hand.
#pragma once

#include "tests/gemm/block/checks.hpp"

namespace weft::gemm {

constexpr BlockConfig WgmmaBlock(TileShape shape, int threads, int alignment,
                                 bool whole_rows = false) {
  return {.shape = shape,
          .mainloop = Mainloop::kWgmmaSm90,
          .threads = threads,
          .alignment = alignment,
          .whole_rows = whole_rows};
}

// Extents that are no multiples of anything, in lines of 32 bytes.
struct S8WgmmaRagged : BlockTypes<std::int8_t, RowMajor, ColumnMajor> {
  static constexpr auto config = WgmmaBlock({45, 40, 81}, 128, 16);
};
// Two warpgroups.
struct S8WgmmaMnMajor : MixedTypes<std::int8_t, std::int8_t, float, std::int32_t, ColumnMajor,
                                   RowMajor, ColumnMajor> {
  static constexpr auto config = WgmmaBlock({100, 72, 256}, 0, 4);
};
// Work for one warpgroup of two.
struct S8WgmmaSmall : BlockTypes<std::int8_t, RowMajor, ColumnMajor> {
  static constexpr auto config = WgmmaBlock({16, 8, 32}, 256, 4);
};
// Addresses of any element; a warpgroup has three times 64 rows, and an N that is no multiple of 16.
struct HalfWgmmaRagged : MixedTypes<Half, Half, Bfloat16, float, RowMajor, RowMajor, ColumnMajor> {
  static constexpr auto config = WgmmaBlock({150, 23, 50}, 128, 2);
};
struct HalfWgmmaRows : MixedTypes<Half, Half, Half, float, RowMajor, ColumnMajor, RowMajor> {
  static constexpr auto config = WgmmaBlock({64, 48, 64}, 128, 16, true);
};
// Four warpgroups, two of them side by side, the others below.
struct Bfloat16WgmmaMnMajor : BlockTypes<Bfloat16, ColumnMajor, RowMajor> {
  static constexpr auto config = WgmmaBlock({120, 112, 32}, 512, 8);
};
// Chains: two warpgroups; sums of three times 64 rows in one; fewer columns than the tiles have.
struct HalfWgmmaFirst : BlockTypes<Half, RowMajor, RowMajor> {
  static constexpr auto config = WgmmaBlock({128, 39, 28}, 256, 16, true);
};
struct HalfWgmmaSecond : BlockTypes<Half, RowMajor, RowMajor> {
  static constexpr auto config = WgmmaBlock({128, 24, 39}, 256, 16, true);
};
struct ByteWgmmaFirst : BlockTypes<std::int8_t, RowMajor, ColumnMajor> {
  static constexpr auto config = WgmmaBlock({192, 40, 32}, 128, 16, true);
};
struct ByteWgmmaSecond : BlockTypes<std::int8_t, RowMajor, RowMajor> {
  static constexpr auto config = WgmmaBlock({192, 48, 40}, 128, 16, true);
};

namespace {

TEST(BlockWgmma, Bytes) {
  CheckProducts<S8WgmmaRagged>(1);
  CheckProducts<S8WgmmaMnMajor>(12);
  CheckProducts<S8WgmmaSmall>(23);
}

TEST(BlockWgmma, SixteenBitFloats) {
  CheckProducts<HalfWgmmaRagged>(6);
  CheckProducts<HalfWgmmaRows>(17);
  CheckProducts<Bfloat16WgmmaMnMajor>(8);
}

TEST(BlockWgmma, LongSumsFromGlobalMemory) {
  CheckLong<HalfWgmmaRows>({60, 48, 500}, 3);
  CheckLong<HalfWgmmaRows>({64, 41, 8}, 10);
  CheckLong<S8WgmmaMnMajor>({100, 72, 2000}, 4);
  CheckLong<S8WgmmaRagged>({45, 40, 401}, 11);
}

TEST(BlockWgmma, SumsBecomeOperandA) {
  CheckChain<BlockChain<HalfWgmmaFirst, HalfWgmmaSecond>>(1);
  CheckChain<BlockChain<ByteWgmmaFirst, ByteWgmmaSecond>>(2);
}

}  // namespace
}  // namespace weft::gemm
