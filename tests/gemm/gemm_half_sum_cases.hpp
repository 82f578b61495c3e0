// Products of halves with sums that are halves: exact where every partial sum is a half, within the bound
// of one rounding for each product elsewhere, on the executor in its documented order and rounding.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/gemm/product.hpp"
#include "tests/kinds.hpp"
#include "weft/gemm/dispatch.hpp"
#include "weft/gemm/ready_made.hpp"

namespace weft::gemm {

template <class A, class B, class C, class Tile, class Epilogue = Chain<ToSums<float>>>
struct HalfSumPolicy : TypedGemm<Half, A, B, C, Epilogue, Tile> {
  using Sum = Half;
};
struct HalfSumLargeTile {
  static constexpr auto config = kMmaHalf128x128;
};
// 64 x 64 sums to a warp, which floats have no registers for beside transposing loads.
struct HalfSumWarpTile {
  static constexpr auto config = MmaSm80Config({128, 128, 32}, {64, 64, 32}, 3, {16, 4});
};

struct HalfSumWgmmaTile {
  static constexpr auto config = WgmmaSm90Config({64, 128, 64}, {64, 64, 64}, 1, 4);
};
// Which keep their sums as floats.
template <class P>
inline constexpr bool kFloatSums = std::is_same_v<decltype(P::config), const WgmmaSm90Config>;

namespace {

// exact: integers from -3 to 3, of which 200 products add up to less than 2048; else numbers up to 16, of
// which they stay within a half's range.
template <class P>
void ExpectHalfSums(const GemmProblem& problem, std::uint32_t seed, bool exact) {
  using Output = typename P::Epilogue::Output;
  SCOPED_TRACE(absl::StrCat("m", problem.m, " n", problem.n, " k", problem.k, " seed ", seed));
  const auto op = Gemm<P>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const GemmProblem p = op->problem();
  constexpr Orders kOrders = kOrdersOf<P>;
  std::mt19937 engine(seed);
  const auto make = [&](bool lines, std::int64_t extent, std::int64_t pitch, std::int64_t stride) {
    std::vector<Half> v = Padded<Half>(engine, lines ? extent : p.k, lines ? p.k : extent, pitch,
                                       p.batch, stride, exact);
    for (Half& x : v) {
      const float f = x.ToFloat();
      if (f == f) x = Half::FromFloat(exact ? std::fmod(f, 4.0f) : f * 0x1p-9f);
    }
    return v;
  };
  const std::vector<Half> a = make(kOrders.lines_of_a, p.m, p.lda, p.stride_a);
  const std::vector<Half> b = make(kOrders.lines_of_b, p.n, p.ldb, p.stride_b);
  std::vector<Output> want((p.batch - 1) * p.stride_c + (kOrders.row_major_c ? p.m : p.n) * p.ldc);
  const OperatorMemory<Half> a_memory(a), b_memory(b);
  const OperatorMemory<Output> c_memory(want);
  typename Gemm<P>::Arguments args;
  args.a = a_memory.get(), args.b = b_memory.get(), args.c = c_memory.get();
  RunHere(*op, args, static_cast<int>(seed));
  if (testing::Test::HasFatalFailure()) return;
  const std::vector<Output> got = c_memory.Read();
  for (std::int64_t g = 0; g < p.batch; ++g) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0.0, magnitude = 0x1p-14;  // a half's least ulp is 2^-24
        Half in_order;                          // float sums of 16 products, each 16 rounded
        float whole = 0.0f;                     // and without rounding
        float part = 0.0f;
        for (std::int64_t k = 0; k < p.k; ++k) {
          const float x =
              a[g * p.stride_a + (kOrders.lines_of_a ? i * p.lda + k : k * p.lda + i)].ToFloat();
          const float y =
              b[g * p.stride_b + (kOrders.lines_of_b ? j * p.ldb + k : k * p.ldb + j)].ToFloat();
          sum += double{x} * y, magnitude += std::abs(double{x} * y);
          if (k % 16 == 0) part = in_order.ToFloat();
          part += x * y, whole += x * y;
          if (k % 16 == 15 || k == p.k - 1) in_order = Half::FromFloat(part);
        }
        const std::int64_t at =
            g * p.stride_c + (kOrders.row_major_c ? i * p.ldc + j : j * p.ldc + i);
#if !defined(WEFT_CUDA_BACKEND)
        const float expected = kFloatSums<P> ? whole : in_order.ToFloat();
#else
        const float expected = static_cast<float>(sum);
        if (!exact) {
          if constexpr (std::is_same_v<Output, float>) {
            ASSERT_NEAR(got[at], sum, (p.k + 1) * magnitude * 0x1p-10) << "at " << i << ", " << j;
            want[at] = got[at];
            continue;
          }
        }
#endif
        ASSERT_LE(std::abs(expected - sum), exact ? 0.0 : (p.k + 1) * magnitude * 0x1p-10);
        epilogues::StageInputsOf<float> in;
        in.accumulator = expected, in.alpha = 1.0f;
        want[at] = typename P::Epilogue{}(in, {});
      }
    }
  }
  EXPECT_EQ(got, want);
}

template <class A, class B, class C, class Tile>
void ExpectRandomHalfSums(std::uint32_t seed, bool exact, int problems = 6) {
  using P = HalfSumPolicy<A, B, C, Tile>;
  std::mt19937 engine(seed);
  for (int i = 0; i <= problems; ++i) {
    GemmProblem p = RandomProblem(engine, kOrdersOf<P>, P::config.alignment.src / 2,
                                  P::config.alignment.dst / 4, i % 2 == 1, 200);
    if (i == problems) p.k = 0;  // C is the epilogue of 0
    ExpectHalfSums<P>(p, seed + i, exact);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(GemmHalfSums, ExactIntegersInAllLayouts) {
  ExpectRandomHalfSums<RowMajor, ColumnMajor, RowMajor, HalfTile<16, 4>>(1000, true);
  ExpectRandomHalfSums<RowMajor, RowMajor, ColumnMajor, HalfTile<16, 4>>(1010, true);
  ExpectRandomHalfSums<ColumnMajor, ColumnMajor, ColumnMajor, HalfTile<16, 4>>(1020, true);
  ExpectRandomHalfSums<ColumnMajor, RowMajor, RowMajor, HalfTile<4, 4>>(1030, true);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(GemmHalfSums, RoundedAsDocumented) {
  ExpectRandomHalfSums<RowMajor, ColumnMajor, RowMajor, HalfTile<8, 4>>(2000, false);
}
#endif
TEST(GemmHalfSums, FloatsOnHopper) {
  ExpectRandomHalfSums<RowMajor, ColumnMajor, RowMajor, HalfSumWgmmaTile>(2500, true, 3);
  ExpectRandomHalfSums<RowMajor, RowMajor, RowMajor, HalfSumWgmmaTile>(2510, true, 3);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectRandomHalfSums<ColumnMajor, RowMajor, RowMajor, HalfSumWgmmaTile>(2520, false, 3);
  ExpectRandomHalfSums<ColumnMajor, ColumnMajor, RowMajor, HalfSumWgmmaTile>(2530, false, 3);
#endif
}
TEST(GemmHalfSums, Batch) {
  using P = HalfSumPolicy<RowMajor, RowMajor, RowMajor, HalfTile<16, 4>>;
  ExpectHalfSums<P>({.m = 33, .n = 40, .k = 45, .lda = 48, .ldb = 56, .batch = 3}, 3000, true);
}
TEST(GemmHalfSums, LargeTiles) {
  using P =
      HalfSumPolicy<RowMajor, ColumnMajor, RowMajor, HalfSumLargeTile, Chain<Scale, RoundTo<Half>>>;
  ExpectHalfSums<P>({.m = 150, .n = 264, .k = 97, .lda = 104, .ldb = 104}, 4000, true);
  using Q = HalfSumPolicy<RowMajor, RowMajor, RowMajor, HalfSumWarpTile>;
  ExpectHalfSums<Q>({.m = 150, .n = 264, .k = 97, .lda = 104}, 4001, true);
}

}  // namespace
}  // namespace weft::gemm
