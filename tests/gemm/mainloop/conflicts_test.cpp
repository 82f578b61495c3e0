// Bank conflicts of the matrix products' shared-memory accesses, as the executor counts them; it
// does not count asynchronous copies.
#include <gtest/gtest.h>

#include <vector>

#include "tests/gemm/policies.hpp"

namespace weft::gemm {
namespace {

// One product of zeros, 256 x 256 x 256.
template <class Element, class A, class B, class TileT>
arch::CpuStats Count() {
  using Sum = typename SumOf<Element>::type;
  using P = TypedGemm<Element, A, B, RowMajor, Chain<ToSums<Sum>>, TileT>;
  constexpr int kSize = 256;
  const std::vector<StoredElement<Element>> zeros(kSize * kSize);
  std::vector<Sum> c(kSize * kSize, Sum(1));
  const auto op = Gemm<P>::Create({.m = kSize, .n = kSize, .k = kSize});
  EXPECT_TRUE(op.ok()) << op.status();
  arch::CpuStats stats;
  const absl::Status status = op->RunOnCpu({.a = zeros.data(), .b = zeros.data(), .c = c.data()},
                                           arch::CpuOptions{}, &stats);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(c, std::vector<Sum>(kSize * kSize));
  return stats;
}

template <class A, class B, class TileT, class Element = float>
void ExpectNoneInLoads() {
  const arch::CpuStats stats = Count<Element, A, B, TileT>();
  EXPECT_GT(stats.shared_phases, 500);
  EXPECT_EQ(stats.shared_wavefronts, stats.shared_phases);
}

TEST(GemmBankConflicts, NoneInAsyncLoadsOfFloat) {
  ExpectNoneInLoads<RowMajor, ColumnMajor, AsyncLargeTile>();
  ExpectNoneInLoads<ColumnMajor, RowMajor, AsyncLargeTile>();
  ExpectNoneInLoads<RowMajor, ColumnMajor, AsyncFmaTile<16, 16>>();
  ExpectNoneInLoads<ColumnMajor, ColumnMajor, AsyncWideTile<16, 16>>();
}

// Doubles in lines of 1, 2 and 4 groups of 8, of k and of rows.
template <int n, int k>
struct DoubleTile {
  static constexpr auto config = MmaSm80Config({64, n, k}, {32, n, k}, 3, 16);
};

TEST(GemmBankConflicts, NoneInLoadsOfDouble) {
  ExpectNoneInLoads<RowMajor, ColumnMajor, DoubleTile<64, 8>, double>();
  ExpectNoneInLoads<RowMajor, ColumnMajor, DoubleTile<64, 16>, double>();
  ExpectNoneInLoads<RowMajor, ColumnMajor, DoubleTile<64, 32>, double>();
  ExpectNoneInLoads<ColumnMajor, RowMajor, DoubleTile<32, 16>, double>();
  ExpectNoneInLoads<ColumnMajor, RowMajor, DoubleTile<16, 16>, double>();
  ExpectNoneInLoads<RowMajor, ColumnMajor, DoubleTile<32, 8>, Complex<double>>();
  ExpectNoneInLoads<ColumnMajor, RowMajor, DoubleTile<32, 16>, Complex<double>>();
}

// Tf32 whose rows lie side by side, words of both or of one operand.
template <int n, int k>
struct Tf32Tile {
  static constexpr auto config = MmaSm80Config({64, n, k}, {32, n, k}, 3, 8);
};

TEST(GemmBankConflicts, NoneInLoadsOfTf32) {
  ExpectNoneInLoads<ColumnMajor, RowMajor, Tf32Tile<64, 16>, Tf32>();
  ExpectNoneInLoads<ColumnMajor, RowMajor, Tf32Tile<32, 32>, Tf32>();
  ExpectNoneInLoads<RowMajor, RowMajor, Tf32Tile<64, 32>, Tf32>();
  ExpectNoneInLoads<ColumnMajor, ColumnMajor, Tf32Tile<16, 8>, Tf32>();
}

// Boxes that are transposed, of tf32 by wide loads and of bytes by ldmatrix and stmatrix.
template <int m, int n, int k>
struct TransposedTile {
  static constexpr auto config = WgmmaSm90Config({m, n, k}, {m, 64, k}, 1, 16);
};

TEST(GemmBankConflicts, NoneInTurning) {
  ExpectNoneInLoads<ColumnMajor, RowMajor, TransposedTile<64, 64, 32>, Tf32>();
  const arch::CpuStats bytes =
      Count<std::int8_t, ColumnMajor, RowMajor, TransposedTile<128, 64, 128>>();
  EXPECT_GT(bytes.ldmatrix_phases, 100);
  EXPECT_EQ(bytes.ldmatrix_wavefronts, bytes.ldmatrix_phases);
  EXPECT_EQ(bytes.shared_wavefronts, bytes.shared_phases);
}

// One, two, four and eight packets of a row side by side (LineMajor), and sixteen that warps share.
template <int k, int warp_k>
struct LineTile {
  static constexpr auto config = MmaSm80Config({64, 64, k}, {32, 32, warp_k}, 3, 16);
};

template <int k, int warp_k = k>
void ExpectNoneInLdMatrix() {
  const arch::CpuStats stats = Count<std::int8_t, RowMajor, ColumnMajor, LineTile<k, warp_k>>();
  EXPECT_GT(stats.ldmatrix_phases, 1000) << "k = " << k;
  EXPECT_EQ(stats.ldmatrix_wavefronts, stats.ldmatrix_phases) << "k = " << k;
}

TEST(GemmBankConflicts, NoneInLdMatrixOfKMajor) {
  ExpectNoneInLdMatrix<32>();
  ExpectNoneInLdMatrix<64>();
  ExpectNoneInLdMatrix<128>();
  ExpectNoneInLdMatrix<256>();
  ExpectNoneInLdMatrix<512, 128>();
}

}  // namespace
}  // namespace weft::gemm
