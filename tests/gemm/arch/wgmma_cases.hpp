// Warpgroup products against plain sums, on the back end at hand: every N, every type, every
// swizzle, operands at any place.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/gemm/arch/run_hopper.hpp"
#include "tests/gemm/arch/wgmma_operands.hpp"

namespace weft::arch::testing {
namespace {

constexpr int kArenaWords = 14336;

// What the registers hold after d = before + a * b (or a * b), in the documented order.
template <class Kernel>
std::vector<uint32_t> ExpectedSums(const Matrix& a, const Matrix& b, bool from_zero) {
  const int n = b.rows;
  std::vector<uint32_t> out(128 * n / 2);
  for (int tid = 0; tid < 128; ++tid) {
    for (int r = 0; r < n / 2; ++r) {
      const int row = tid / 32 * 16 + r / 2 % 2 * 8 + tid % 32 / 4;
      const int column = r / 4 * 8 + tid % 4 * 2 + r % 2;
      int sum = from_zero ? 0 : Kernel::Before(tid, r);
      for (int k = 0; k < a.k; ++k) sum += a.at(row, k) * b.at(column, k);
      out[tid * n / 2 + r] = static_cast<uint32_t>(sum);
    }
  }
  return out;
}

template <WgmmaType kType, int N, int kTrans, class Kernel = WgmmaKernel<kType, N, kTrans>>
void TestProduct(const ProductCase& c) {
  if (const char* why = CannotRun(Kernel::kRequires)) GTEST_SKIP() << why;
  SCOPED_TRACE(std::string(c.name) + ", n = " + std::to_string(N));
  const int k = c.products * 32 / WgmmaElementBytes(kType);
  constexpr WgmmaType kOfA = kType == WgmmaType::kS8U8 ? WgmmaType::kS8 : kType;
  const Matrix a = RandomMatrix(kOfA, 64, k, 31), b = RandomMatrix(kType, N, k, 32);
  std::vector<uint32_t> arena = Noise(33).Words(kArenaWords);
  Place(a, kType, c.a, &arena);
  Place(b, kType, c.b, &arena);
  const WgmmaParams params = ParamsOf(c);
  const std::vector<uint32_t> expected = ExpectedSums<Kernel>(a, b, c.from_zero);
  for (const std::vector<uint32_t>& out : RunProducts<Kernel>(params, arena, N)) {
    EXPECT_EQ(out, expected);
  }
}

// All placements, or one of them in turn.
template <WgmmaType kType, int N>
void TestPlacements() {
  for (const ProductCase& c : ProductCases(N)) TestProduct<kType, N, 0>(c);
}
template <WgmmaType kType, int... N>
void TestEachN(std::integer_sequence<int, N...>) {
  int i = 0;
  (TestProduct<kType, N, 0>(ProductCases(N)[i++ % 8]), ...);
}
TEST(Wgmma, BytesOfEveryN) {
  TestEachN<WgmmaType::kS8>(EveryN());
}

TEST(Wgmma, BytesOfEveryPlacement) {
  TestPlacements<WgmmaType::kS8, 64>();
  TestPlacements<WgmmaType::kS8, 208>();
  TestPlacements<WgmmaType::kS8U8, 64>();
}

TEST(Wgmma, FloatsOfEveryTypeAndPlacement) {
  TestPlacements<WgmmaType::kF16, 48>();
  TestPlacements<WgmmaType::kBf16, 64>();
  TestPlacements<WgmmaType::kTf32, 24>();
  TestPlacements<WgmmaType::kE4m3, 32>();
  TestPlacements<WgmmaType::kE5m2, 80>();
}

TEST(Wgmma, HalvesOfEveryN) {
  TestEachN<WgmmaType::kF16>(EveryN());
  TestEachN<WgmmaType::kBf16>(EveryN());
}

template <WgmmaType kType, int... N>
void TestRsOfEachN(std::integer_sequence<int, N...>) {
  int i = 0;
  (TestProduct<kType, N, 0, WgmmaRsKernel<kType, N>>(ProductCases(N)[i++ % 8]), ...);
}
TEST(Wgmma, OperandAInRegisters) {
  TestRsOfEachN<WgmmaType::kS8>(SeveralN());
  TestRsOfEachN<WgmmaType::kS8U8>(SeveralN());
  TestRsOfEachN<WgmmaType::kTf32>(SeveralN());
  TestRsOfEachN<WgmmaType::kF16>(SeveralN());
  TestRsOfEachN<WgmmaType::kBf16>(SeveralN());
}

TEST(Wgmma, NarrowFloatsOfSeveralN) {
  TestEachN<WgmmaType::kTf32>(SeveralN());
  TestEachN<WgmmaType::kE4m3>(SeveralN());
  TestEachN<WgmmaType::kE5m2>(SeveralN());
}

// Row j of b is the 32 bytes from 16 j on: one chunk of 16 bytes serves two rows.
TEST(Wgmma, OverlappingRows) {
  constexpr int N = 64;
  using Kernel = WgmmaKernel<WgmmaType::kS8, N>;
  if (const char* why = CannotRun(Kernel::kRequires)) GTEST_SKIP() << why;
  const Matrix a = RandomMatrix(WgmmaType::kS8, 64, 32, 34);
  Matrix b{N, 32, {}};
  std::vector<uint32_t> arena = Noise(35).Words(kArenaWords);
  Place(a, WgmmaType::kS8, {{SwizzleSpan::k32, 16, 256}, false, 0}, &arena);
  constexpr uint32_t kStart = 8192 + 48, kStride = 160;
  const auto* bytes = reinterpret_cast<const int8_t*>(arena.data());
  for (int row = 0; row < N; ++row) {
    for (int k = 0; k < 32; ++k) {
      b.value.push_back(bytes[kStart + row / 8 * kStride + row % 8 * 16 + k]);
    }
  }
  const WgmmaParams params{.arena = nullptr,
                           .out = nullptr,
                           .words = 0,
                           .start_a = 0,
                           .start_b = kStart,
                           .step_a = 0,
                           .step_b = 0,
                           .a = {SwizzleSpan::k32, 16, 256},
                           .b = {SwizzleSpan::kNone, 16, kStride},
                           .products = 1,
                           .from_zero = 1};
  for (const auto& out : RunProducts<Kernel>(params, arena, N)) {
    EXPECT_EQ(out, ExpectedSums<Kernel>(a, b, true));
  }
}

// MN-major operands, whose rows lie side by side.
template <WgmmaType kType, int N, int kTrans, class Kernel = WgmmaKernel<kType, N, kTrans>>
void TestMnMajor() {
  for (const int span : {0, 32, 64, 128}) {
    const auto swizzle = static_cast<SwizzleSpan>(span);
    const auto placement = [&](bool mn_major, int rows, uint32_t start) -> Placement {
      if (!mn_major) return {{SwizzleSpan::k32, 16, 256}, false, start};
      const auto urows = static_cast<uint32_t>(rows), uspan = static_cast<uint32_t>(span);
      // Without swizzle eight rows and eight k are 128 bytes, and the next eight rows follow.
      if (span == 0) return {{swizzle, urows * 16, 128}, true, start};
      // Blocks of span / 2 rows by 16 k, one after the other.
      return {{swizzle, uspan * 16, uspan * 8}, true, start};
    };
    TestProduct<kType, N, kTrans, Kernel>({"mn_major", placement((kTrans & 1) != 0, 64, 0),
                                           placement((kTrans & 2) != 0, N, 8192), 1, span == 64});
  }
}

TEST(Wgmma, MnMajorHalves) {
  TestMnMajor<WgmmaType::kF16, 64, 1>();
  TestMnMajor<WgmmaType::kF16, 128, 2>();
  TestMnMajor<WgmmaType::kBf16, 128, 3>();
  TestMnMajor<WgmmaType::kF16, 64, 2, WgmmaRsKernel<WgmmaType::kF16, 64, 2>>();
  TestMnMajor<WgmmaType::kBf16, 16, 2, WgmmaRsKernel<WgmmaType::kBf16, 16, 2>>();
}

}  // namespace
}  // namespace weft::arch::testing
