// Products of complex numbers: bit for bit one MulAdd for each k through fma, within a bound of that through
// tensor cores, whose parts have another order.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "tests/gemm/product.hpp"
#include "tests/kinds.hpp"
#include "weft/gemm/dispatch.hpp"
#include "weft/gemm/ready_made.hpp"

namespace weft::gemm {

template <int src, int dst>
struct ComplexMmaTile {
  static constexpr auto config = MmaSm80Config({32, 64, 8}, {32, 32, 8}, 3, {src, dst});
};
struct ComplexSlicedMmaTile {  // two warps, each with one of the two steps of a k tile
  static constexpr auto config = MmaSm80Config({16, 32, 16}, {16, 32, 8}, 3, 16);
};
struct ComplexFmaTile {
  static constexpr auto config = SimtConfig({64, 32, 8}, {32, 16, 8}, {4, 4, 1}, Alignment{16, 16});
};
template <class E, class A, class B, class C, class Tile,
          class Epilogue = Chain<Residual<E>, Scale, ToSums<E>>>
using ComplexPolicy = TypedGemm<E, A, B, C, Epilogue, Tile>;

namespace {

// alpha A B + gamma C in place.
template <class P>
void ExpectComplex(const GemmProblem& problem, std::uint32_t seed) {
  using E = typename P::Element;
  using T = decltype(E{}.re);
  using Wide = std::complex<double>;
  SCOPED_TRACE(absl::StrCat("m", problem.m, " n", problem.n, " k", problem.k, " seed ", seed));
  constexpr bool kOrdered = P::config.kMainloop != Mainloop::kMmaSm80;
  constexpr Orders kOrders = kOrdersOf<P>;
  const auto op = Gemm<P>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const GemmProblem p = op->problem();
  std::mt19937 engine(seed);
  const auto make = [&](std::int64_t lines, std::int64_t length, std::int64_t pitch,
                        std::int64_t stride) {
    std::vector<E> v((p.batch - 1) * stride + lines * pitch);
    const auto number = [&] { return static_cast<T>(int(engine() >> 16) - 32768) / 1000; };
    for (E& x : v) x = {number(), number()};
    for (std::int64_t b = 0; b < p.batch; ++b) {  // what must not be read
      for (std::int64_t i = 0; i < lines; ++i) {
        for (std::int64_t j = length;
             j < pitch && b * stride + i * pitch + j < std::int64_t(v.size()); ++j) {
          v[b * stride + i * pitch + j].im = std::numeric_limits<T>::quiet_NaN();
        }
      }
    }
    return v;
  };
  const auto a =
      kOrders.lines_of_a ? make(p.m, p.k, p.lda, p.stride_a) : make(p.k, p.m, p.lda, p.stride_a);
  const auto b =
      kOrders.lines_of_b ? make(p.n, p.k, p.ldb, p.stride_b) : make(p.k, p.n, p.ldb, p.stride_b);
  const auto c =
      kOrders.row_major_c ? make(p.m, p.n, p.ldc, p.stride_c) : make(p.n, p.m, p.ldc, p.stride_c);
  const OperatorMemory<E> a_memory(a), b_memory(b), c_memory(c);
  typename Gemm<P>::Arguments args;
  args.a = a_memory.get(), args.b = b_memory.get();
  args.c = c_memory.get();
  args.alpha = {T(0.3), T(-0.7)};
  constexpr bool kResidual = P::Epilogue::kHasResidual;
  if constexpr (kResidual) args.residual = c_memory.get(), args.gamma = {T(1.1), T(0.4)};
  RunHere(*op, args, static_cast<int>(seed));
  if (testing::Test::HasFatalFailure()) return;
  const std::vector<E> got = c_memory.Read();
  int different = 0;
  for (std::int64_t g = 0; g < p.batch; ++g) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        // Of the warps that share k tiles.
        constexpr int kBlockK = P::config.threadblock.k, kWarpK = P::config.warp.k;
        E parts[kBlockK / kWarpK] = {};
        double magnitude = 0.0;
        for (std::int64_t k = 0; k < p.k; ++k) {
          E& sum = parts[k % kBlockK / kWarpK];
          const E x = a[g * p.stride_a + (kOrders.lines_of_a ? i * p.lda + k : k * p.lda + i)];
          const E y = b[g * p.stride_b + (kOrders.lines_of_b ? j * p.ldb + k : k * p.ldb + j)];
          sum = MulAdd(x, y, sum);
          magnitude += std::abs(Wide(x.re, x.im)) * std::abs(Wide(y.re, y.im));
        }
        E sum = parts[0];
        for (int part = 1; part < kBlockK / kWarpK; ++part) sum += parts[part];
        const std::int64_t at =
            g * p.stride_c + (kOrders.row_major_c ? i * p.ldc + j : j * p.ldc + i);
        E want = MulAdd(args.alpha, sum, E{});
        if constexpr (kResidual) want = MulAdd(args.alpha, sum, MulAdd(args.gamma, c[at], E{}));
        if constexpr (kOrdered) {
          different += got[at] != want;
        } else {
          const double bound = (2 * p.k + 4) * 0x1p-52 * (magnitude + 100.0);
          different += !(std::abs(Wide(got[at].re - want.re, got[at].im - want.im)) <= bound);
        }
      }
    }
  }
  EXPECT_EQ(different, 0);
}

template <class E, class A, class B, class C, class Tile,
          class Epilogue = Chain<Residual<E>, Scale, ToSums<E>>>
void ExpectRandomComplex(std::uint32_t seed, int problems = 4) {
  using P = ComplexPolicy<E, A, B, C, Tile, Epilogue>;
  constexpr int kBytes = sizeof(E);
  std::mt19937 engine(seed);
  for (int i = 0; i <= problems; ++i) {
    GemmProblem p = RandomProblem(engine, kOrdersOf<P>, P::config.alignment.src / kBytes,
                                  P::config.alignment.dst / kBytes, i % 2 == 1, 60);
    if (i == problems) p.k = 0;  // C is the epilogue of 0
    ExpectComplex<P>(p, seed + i);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(GemmComplexFloat, Async) {
  using E = Complex<float>;
  ExpectRandomComplex<E, RowMajor, ColumnMajor, RowMajor, AsyncFmaTile<16, 16>>(1000);
  ExpectRandomComplex<E, ColumnMajor, RowMajor, ColumnMajor, AsyncFmaTile<16, 8>>(1010);
}
TEST(GemmComplexFloat, WarpsShareKTiles) {
  using E = Complex<float>;
  ExpectRandomComplex<E, RowMajor, ColumnMajor, RowMajor, AsyncSlicedTile<16, 16>>(1500);
  ExpectRandomComplex<E, ColumnMajor, RowMajor, ColumnMajor, AsyncSlicedTile<16, 8>>(1510);
}
TEST(GemmComplexFloat, OneElementAtATime) {
  using E = Complex<float>;
#if !WEFT_ONE_OF_EACH_KIND
  ExpectRandomComplex<E, RowMajor, ColumnMajor, ColumnMajor, FmaTile<8, 8>>(2000);
#endif
  ExpectRandomComplex<E, ColumnMajor, RowMajor, RowMajor, FmaTile<8, 8>>(2010);
}
TEST(GemmComplexDouble, Fma) {
  using E = Complex<double>;
  ExpectRandomComplex<E, RowMajor, RowMajor, RowMajor, ComplexFmaTile>(3000);
  ExpectRandomComplex<E, RowMajor, ColumnMajor, RowMajor, AsyncSlicedTile<16, 16>>(3010);
  ExpectRandomComplex<E, RowMajor, RowMajor, RowMajor, AsyncSlicedTile<16, 16>>(3020);
}
TEST(GemmComplexDouble, TensorCoresInAllLayouts) {
  using E = Complex<double>;
  ExpectRandomComplex<E, RowMajor, ColumnMajor, RowMajor, ComplexMmaTile<16, 16>>(4000);
  ExpectRandomComplex<E, RowMajor, RowMajor, ColumnMajor, ComplexMmaTile<16, 16>>(4010);
  ExpectRandomComplex<E, ColumnMajor, ColumnMajor, ColumnMajor, ComplexMmaTile<16, 16>>(4020);
  ExpectRandomComplex<E, ColumnMajor, RowMajor, RowMajor, ComplexMmaTile<16, 16>>(4030);
}
TEST(GemmComplexDouble, WarpsShareKTilesOfTensorCores) {
  using E = Complex<double>;
  using Tile = ComplexSlicedMmaTile;
  using Scaled = Chain<Scale, ToSums<E>>;
  ExpectRandomComplex<E, RowMajor, ColumnMajor, RowMajor, Tile, Scaled>(4500);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectRandomComplex<E, RowMajor, RowMajor, ColumnMajor, Tile, Scaled>(4510);
  ExpectRandomComplex<E, ColumnMajor, ColumnMajor, ColumnMajor, Tile, Scaled>(4520);
#endif
  ExpectRandomComplex<E, ColumnMajor, RowMajor, RowMajor, Tile, Scaled>(4530);
}
TEST(GemmComplexDouble, Batch) {
  using P = ComplexPolicy<Complex<double>, RowMajor, RowMajor, RowMajor, ComplexMmaTile<16, 16>>;
  ExpectComplex<P>({.m = 33, .n = 40, .k = 45, .lda = 48, .ldb = 56, .batch = 3}, 5000);
}

TEST(GemmComplex, BadInput) {
  using E = Complex<float>;
  using P = ComplexPolicy<E, RowMajor, ColumnMajor, RowMajor, AsyncFmaTile<16, 16>>;
  const auto op = Gemm<P>::Create({.m = 4, .n = 4, .k = 4});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) E a[17] = {}, c[16];
  typename Gemm<P>::Arguments args;
  args.a = a + 1, args.b = a, args.c = c, args.residual = c;
  EXPECT_THAT(std::string(op->Run(args, nullptr).message()),
              testing::HasSubstr("is not 16-byte aligned"));
  args.a = a, args.alpha.im = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(std::string(op->Run(args, nullptr).message()),
              testing::HasSubstr("args.alpha is NaN"));
  using Sums = TypedGemm<E, RowMajor, ColumnMajor, RowMajor, Chain<ToSums<E>>, FmaTile<8, 8>>;
  const auto sums = Gemm<Sums>::Create({.m = 4, .n = 4, .k = 4});
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_THAT(std::string(sums->Run({.a = a, .b = a, .c = c, .alpha = 2.0f}, nullptr).message()),
              testing::HasSubstr("args.alpha=2 is set"));
}

}  // namespace
}  // namespace weft::gemm
