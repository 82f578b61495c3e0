// Batches of products and products in groups, through every mainloop and store.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/gemm/product.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm {

using ToFloats = Chain<Residual<float>, Scale, Bias<>, ToFloat>;
using ToInt8 = Chain<Residual<std::int8_t>, Scale, Bias<>, ClampTo<std::int8_t>>;
using ToHalf = Chain<Scale, Bias<>, Relu, RoundTo<Half>>;
using FloatSums = Chain<ToSums<float>>;
using IntSums = Chain<ToSums<std::int32_t>>;

// Operands along memory and across it, every store.
using Dp4aProducts =
    TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, ToFloats, Dp4aTile<4, 4>>;
using FmaProducts =
    TypedGemm<double, ColumnMajor, ColumnMajor, RowMajor, Chain<ToSums<double>>, FmaTile<8, 8>>;
using AsyncProducts =
    TypedGemm<float, RowMajor, RowMajor, ColumnMajor, FloatSums, AsyncFmaTile<4, 4>>;
using MmaProducts =
    TypedGemm<std::int8_t, ColumnMajor, RowMajor, RowMajor, IntSums, MmaProductTile<4, 4>>;
using HalfProducts = TypedGemm<Half, RowMajor, RowMajor, RowMajor, ToHalf, HalfTile<16, 4>>;
using WgmmaProducts = TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, ToInt8,
                                WgmmaTile<64, 64, 128, 32, 64, 8>>;
using WgmmaHalfProducts =
    TypedGemm<Half, RowMajor, RowMajor, ColumnMajor, FloatSums, WgmmaTile<64, 128, 64, 64, 64, 4>>;
using WgmmaSplitKProducts = TypedGemm<Bfloat16, ColumnMajor, ColumnMajor, RowMajor, ToHalf,
                                      WgmmaTile<64, 64, 32, 64, 64, 2, 1, 4>>;

// Where it is, in seven bits.
struct Place {
  constexpr float operator()(float, const epilogues::OutputCoord& at) const {
    return static_cast<float>((at.n * 29 + at.q * 5 + at.k + 64 * at.p) % 128);
  }
};

namespace {

template <class P>
GemmProblem RandomOf(std::mt19937& engine, bool pad) {
  constexpr int kLoad = P::config.alignment.src / static_cast<int>(sizeof(typename P::Element));
  constexpr int kStore =
      P::config.alignment.dst / static_cast<int>(sizeof(typename P::Epilogue::Output));
  return RandomProblem(engine, kOrdersOf<P>, kLoad, kStore, pad, 200);
}

template <class P>
void ExpectBatches(std::uint32_t seed) {
  constexpr int kLoad = 16 / static_cast<int>(sizeof(typename P::Element));
  constexpr Orders kOrders = kOrdersOf<P>;
  std::mt19937 engine(seed);
  for (int i = 0; i < 8; ++i) {
    GemmProblem p = RandomOf<P>(engine, i % 2 == 1);
    p.batch = 2 + engine() % 4;
    p.own_bias = i % 2 == 1;
    const std::int64_t lines_c = kOrders.row_major_c ? p.m : p.n;
    if (i % 4 == 1) {  // one A, gaps between the others
      p.stride_a = 0;
      p.stride_b = (kOrders.lines_of_b ? p.n : p.k) * p.ldb + 3 * kLoad;
      p.stride_c = lines_c * p.ldc + 48;
    } else if (i % 4 == 2) {  // one B; blocks of columns (rows) of larger matrices, as of heads
      p.stride_b = 0;
      p.stride_a = p.lda;
      p.stride_c = RoundUp(p.ldc, 16);
      p.lda *= p.batch;
      p.ldc = p.batch * p.stride_c;
    } else if (i % 4 == 3) {  // windows that share elements
      p.stride_a = kLoad;
    }
    if (i == 5) p.k = 0;  // each C is the epilogue of 0
    ExpectProduct<P>(p, seed + i, true);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(GemmBatch, Dp4a) {
  ExpectBatches<Dp4aProducts>(100);
}
TEST(GemmBatch, Fma) {
  ExpectBatches<FmaProducts>(200);
}
TEST(GemmBatch, FmaAsync) {
  ExpectBatches<AsyncProducts>(300);
}
TEST(GemmBatch, TensorCores) {
  ExpectBatches<MmaProducts>(400);
  ExpectBatches<HalfProducts>(500);
}
TEST(GemmBatch, Wgmma) {
  ExpectBatches<WgmmaProducts>(600);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectBatches<WgmmaHalfProducts>(700);
#endif
  ExpectBatches<WgmmaSplitKProducts>(800);
}

template <class C, class Tile>
void ExpectPlaces() {
  using P = TypedGemm<std::int8_t, RowMajor, ColumnMajor, C,
                      Chain<Scale, Place, ClampTo<std::int8_t>>, Tile>;
  constexpr bool kRowMajor = std::is_same_v<C, RowMajor>;
  const GemmProblem p = {.m = 20, .n = 24, .k = 16, .ldc = 72, .batch = 3, .stride_c = 24};
  const std::vector<std::int8_t> a(3 * 24 * 16), before(kRowMajor ? 20 * 72 : 24 * 72, 7);
  const OperatorMemory<std::int8_t> memory(a), c(before);
  const auto op = Gemm<P>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  RunHere(*op, {.a = memory.get(), .b = memory.get(), .c = c.get()}, 0);
  std::vector<std::int8_t> want = before;
  for (int b = 0; b < 3; ++b) {
    for (int i = 0; i < 20; ++i) {
      for (int j = 0; j < 24; ++j) {
        want[24 * b + (kRowMajor ? 72 * i + j : 72 * j + i)] =
            static_cast<std::int8_t>((b * 29 + i * 5 + j) % 128);
      }
    }
  }
  EXPECT_EQ(c.Read(), want);
}
TEST(GemmBatch, Coordinates) {
  ExpectPlaces<RowMajor, Dp4aTile<4, 4>>();
#if !WEFT_ONE_OF_EACH_KIND
  ExpectPlaces<ColumnMajor, Dp4aTile<4, 1>>();
#endif
  ExpectPlaces<RowMajor, WgmmaTile<64, 64, 128, 32, 64, 8>>();
}

// Groups of any number of rows, of none too, and rows that belong to no group.
template <class P>
void ExpectGroups(std::uint32_t seed) {
  std::mt19937 engine(seed);
  for (int i = 0; i < 8; ++i) {
    GemmProblem p = RandomOf<P>(engine, i % 2 == 1);
    p.batch = 1 + engine() % 9;
    p.m = i == 0 ? 3 : 1 + engine() % 300;
    if (!kOrdersOf<P>.row_major_c) p.ldc = RoundUp(p.m, 16);
    p.own_bias = i % 2 == 0;
    std::vector<std::int32_t> group_offsets(p.batch);
    for (std::int32_t& end : group_offsets) end = static_cast<std::int32_t>(engine() % (p.m + 1));
    if (i % 3 == 1) group_offsets[0] = static_cast<std::int32_t>(p.m);  // one has them all, or most
    if (i % 3 == 2) group_offsets.back() = group_offsets[0];
    std::sort(group_offsets.begin(), group_offsets.end());
    if (i == 3) std::fill(group_offsets.begin(), group_offsets.end(), 0);
    if (i == 4) p.k = 0;  // rows of groups are the epilogue of 0, others stay as they are
    ExpectProduct<Grouped<P>>(p, seed + i, true, false, group_offsets);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(GemmGroups, Dp4a) {
  ExpectGroups<Dp4aProducts>(1100);
}
TEST(GemmGroups, FmaAsync) {
  ExpectGroups<AsyncProducts>(1200);
}
TEST(GemmGroups, TensorCores) {
  ExpectGroups<HalfProducts>(1300);
}
TEST(GemmGroups, Wgmma) {
  ExpectGroups<WgmmaProducts>(1400);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectGroups<WgmmaHalfProducts>(1500);
#endif
}

template <class P>
std::string Refusal(const GemmProblem& p) {
  return std::string(Gemm<P>::Create(p).status().message());
}

TEST(GemmBatch, BadInput) {
  using P = MmaProducts;  // 4-byte loads
  EXPECT_EQ(Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = -1}),
            "gemm: batch=-1 is negative; give 0 or more");
  EXPECT_EQ(
      Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 2, .stride_a = 6}),
      "gemm: stride_a=6 is not a multiple of 4, the elements of one access; move the matrices "
      "apart or lower config.alignment with WithSrcAlignment");
  EXPECT_EQ(
      Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 2, .stride_b = -64}),
      "gemm: stride_b=-64 is negative; give the elements from one product's matrix to the next "
      "one's, or GemmProblem::kPacked");
  EXPECT_EQ(Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 3, .stride_c = 16}),
            "gemm: stride_c=16 lets the C of a product reach into the next one's; give 64 or more, "
            "or at least n=8 and an ldc of at least 40 for blocks of one larger matrix");
  EXPECT_EQ(Refusal<P>({.m = 8, .n = 8, .k = 8, .ldc = 40, .batch = 3, .stride_c = 16}), "");
  EXPECT_THAT(Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 3, .stride_c = std::int64_t{1} << 60}),
              testing::HasSubstr("the reach of a 64-bit offset; split the batch"));
  EXPECT_THAT(Refusal<WgmmaHalfProducts>(
                  {.m = 8, .n = 8, .k = 8, .batch = 3, .stride_b = std::int64_t{1} << 40}),
              testing::HasSubstr("exceeds 549755813880, the reach of TMA"));
  EXPECT_THAT(Refusal<P>({.m = 8, .n = 1 << 20, .k = 8, .batch = 1 << 20, .own_bias = true}),
              testing::HasSubstr("the most biases of own_bias; split the batch"));
  EXPECT_THAT(Refusal<P>({.m = 1 << 15, .n = 1 << 20, .k = 8, .batch = 1 << 15}),
              testing::HasSubstr("gemm: blocks="));
  EXPECT_EQ(
      Refusal<P>({.m = 1 << 20, .n = 8, .k = 8, .batch = 1 << 20}),
      "gemm: stride_c=8388608 times batch=1048576 are more than 2147482623 times ldc=8; split "
      "the batch");

  // C is compared with all that a batch reads.
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 8, .batch = 4});
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(), testing::HasSubstr("batch of 4 x 1 x 1 blocks"));
  alignas(16) std::int8_t operands[2 * 4 * 64 + 4 * 256] = {};
  std::int8_t* const end = operands + 4 * 64;
  const auto status = [&](const Gemm<P>& g, std::int8_t* c) {
    return g.CheckArguments({.a = operands, .b = end, .c = reinterpret_cast<std::int32_t*>(c)});
  };
  EXPECT_TRUE(status(*op, end + 4 * 64).ok());
  EXPECT_THAT(std::string(status(*op, end + 4 * 64 - 4).message()),
              testing::HasSubstr("args.c overlaps args.b"));
  const auto shared = Gemm<P>::Create({.m = 8, .n = 8, .k = 8, .batch = 4, .stride_b = 0});
  EXPECT_TRUE(status(*shared, end + 64).ok());
  EXPECT_FALSE(status(*shared, end + 60).ok());
  std::int32_t group_offsets[4] = {};
  std::int32_t c[4 * 64];
  EXPECT_THAT(
      std::string(
          op->CheckArguments({.a = operands, .b = end, .c = c, .group_offsets = group_offsets})
              .message()),
      testing::HasSubstr("args.group_offsets is set but the policy is no weft::gemm::Grouped<P>"));
}

TEST(GemmGroups, BadInput) {
  using P = Grouped<HalfProducts>;
  EXPECT_EQ(
      Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 2, .stride_a = 64}),
      "gemm: stride_a=64 is given, but the products of Grouped share the rows of one A and of "
      "one C; leave it kPacked");
  EXPECT_THAT(Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 1 << 30}),
              testing::HasSubstr("rows of tiles; split the product"));
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 8, .batch = 3});
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(), testing::HasSubstr("3 groups of 1 x 1 blocks"));
  alignas(16) Half a[64] = {}, b[3 * 64] = {}, c[64] = {};
  float bias[8] = {};
  typename Gemm<P>::Arguments args = {.a = a, .b = b, .bias = bias, .c = c};
  EXPECT_THAT(std::string(op->Run(args, nullptr).message()),
              testing::HasSubstr(
                  "gemm: args.group_offsets is null; give the address of one number for each "
                  "of problem.batch groups, the row behind its last one"));
  EXPECT_TRUE(op->CheckGroupOffsets({0, 5, 5}).ok());
  EXPECT_EQ(op->CheckGroupOffsets({0, 5}).message(),
            "gemm: group_offsets are 2, but batch=3 groups; give one number for each");
#if defined(WEFT_CPU_BACKEND)
  const auto refusal = [&](std::int32_t first, std::int32_t second, std::int32_t third) {
    const std::int32_t group_offsets[] = {first, second, third};
    args.group_offsets = group_offsets;
    return std::string(op->RunOnCpu(args).message());
  };
  EXPECT_EQ(refusal(0, 5, 8), "");
  EXPECT_EQ(refusal(3, 2, 8),
            "gemm: args.group_offsets[1]=2 is less than 3, where the group begins; give group "
            "offsets that "
            "follow one another");
  EXPECT_EQ(refusal(-1, 2, 8),
            "gemm: args.group_offsets[0]=-1 is less than 0, where the group begins; give group "
            "offsets that "
            "follow one another");
  EXPECT_EQ(refusal(3, 4, 9), "gemm: args.group_offsets[2]=9 exceeds m=8, the rows there are");
#endif
}

}  // namespace
}  // namespace weft::gemm
