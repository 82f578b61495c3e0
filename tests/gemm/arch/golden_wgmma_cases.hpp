// Golden vectors of warpgroup products (golden_hopper.hpp), by the kernels of wgmma_cases.hpp.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/gemm/arch/golden_hopper.hpp"
#include "tests/gemm/arch/run_hopper.hpp"
#include "tests/gemm/arch/wgmma_operands.hpp"

namespace weft::arch::testing {
namespace {

template <WgmmaType kType, int N, int kTrans = 0, class Kernel = WgmmaKernel<kType, N, kTrans>>
void RecordProduct(const ProductCase& c, Recorded* recorded) {
  SCOPED_TRACE(std::string(c.name) + ", n = " + std::to_string(N));
  // Numbers whose sums are exact, everywhere.
  constexpr int kPerWord = 4 / WgmmaElementBytes(kType);
  const Matrix numbers = RandomMatrix(kType, Kernel::kArenaWords, kPerWord, 42);
  std::vector<uint32_t> arena(Kernel::kArenaWords);
  for (size_t i = 0; i < arena.size(); ++i) {
    for (int e = 0; e < kPerWord; ++e) {
      arena[i] |= ElementBits(kType, numbers.at(static_cast<int>(i), e)) << 32 / kPerWord * e;
    }
  }
  const WgmmaParams params = ParamsOf(c);
  std::vector<uint32_t> in = {static_cast<uint32_t>(kType),
                              N,
                              kTrans,
                              params.start_a,
                              params.start_b,
                              static_cast<uint32_t>(c.a.layout.swizzle),
                              c.a.layout.leading,
                              c.a.layout.stride,
                              static_cast<uint32_t>(c.b.layout.swizzle),
                              c.b.layout.leading,
                              c.b.layout.stride,
                              params.products,
                              params.from_zero};
  in.insert(in.end(), arena.begin(), arena.end());
  Record(in, RunProducts<Kernel>(params, arena, N), recorded);
}

template <WgmmaType kType, int... N>
void CompareEachN(const std::string& name, std::integer_sequence<int, N...>) {
  if (const char* why = CannotRun({.min = 90, .exact = true})) GTEST_SKIP() << why;
  Recorded recorded;
  int i = 0;
  (RecordProduct<kType, N>(ProductCases(N)[i++ % 8], &recorded), ...);
  CompareOrWrite(name, recorded, "golden_wgmma_cases.hpp");
}
// The same products with operand A in registers: their outputs are the same.
template <WgmmaType kType, int... N>
void CompareRsOfEachN(const std::string& name, std::integer_sequence<int, N...>) {
  if (const char* why = CannotRun({.min = 90, .exact = true})) GTEST_SKIP() << why;
  Recorded recorded;
  int i = 0;
  (RecordProduct<kType, N, 0, WgmmaRsKernel<kType, N>>(ProductCases(N)[i++ % 8], &recorded), ...);
  CompareOrWrite(name, recorded, "golden_wgmma_cases.hpp");
}
template <WgmmaType kType, int... N>
void ComparePlaced(const std::string& name) {
  if (const char* why = CannotRun({.min = 90, .exact = true})) GTEST_SKIP() << why;
  Recorded recorded;
  const auto all = [&](auto n) {
    for (const ProductCase& c : ProductCases(n())) RecordProduct<kType, n()>(c, &recorded);
  };
  (all(std::integral_constant<int, N>()), ...);
  CompareOrWrite(name, recorded, "golden_wgmma_cases.hpp");
}
TEST(GoldenHopper, WgmmaOfEveryN) {
  CompareEachN<WgmmaType::kS8>("wgmma_s8_n", EveryN());
  CompareEachN<WgmmaType::kF16>("wgmma_f16_n", EveryN());
  CompareEachN<WgmmaType::kBf16>("wgmma_bf16_n", EveryN());
}
TEST(GoldenHopper, WgmmaOfOperandAInRegisters) {
  CompareRsOfEachN<WgmmaType::kS8>("wgmma_s8_n", EveryN());
  CompareRsOfEachN<WgmmaType::kS8U8>("wgmma_s8_u8_n", SeveralN());
  CompareRsOfEachN<WgmmaType::kTf32>("wgmma_tf32_n", SeveralN());
}
TEST(GoldenHopper, WgmmaS8U8OfSeveralN) {
  CompareEachN<WgmmaType::kS8U8>("wgmma_s8_u8_n", SeveralN());
}
TEST(GoldenHopper, WgmmaTf32OfSeveralN) {
  CompareEachN<WgmmaType::kTf32>("wgmma_tf32_n", SeveralN());
}
TEST(GoldenHopper, WgmmaE4m3OfSeveralN) {
  CompareEachN<WgmmaType::kE4m3>("wgmma_e4m3_n", SeveralN());
}
TEST(GoldenHopper, WgmmaE5m2OfSeveralN) {
  CompareEachN<WgmmaType::kE5m2>("wgmma_e5m2_n", SeveralN());
}
TEST(GoldenHopper, WgmmaOfEveryPlacement) {
  ComparePlaced<WgmmaType::kS8, 64, 208>("wgmma_s8_placed");
  ComparePlaced<WgmmaType::kF16, 48>("wgmma_f16_placed");
  ComparePlaced<WgmmaType::kBf16, 64>("wgmma_bf16_placed");
  ComparePlaced<WgmmaType::kTf32, 24>("wgmma_tf32_placed");
  ComparePlaced<WgmmaType::kE4m3, 32>("wgmma_e4m3_placed");
  ComparePlaced<WgmmaType::kE5m2, 80>("wgmma_e5m2_placed");
}
TEST(GoldenHopper, WgmmaOfOverlappingRows) {
  if (const char* why = CannotRun({.min = 90, .exact = true})) GTEST_SKIP() << why;
  Recorded recorded;
  for (const uint32_t stride : {128u, 160u, 208u, 1040u}) {
    const ProductCase c{"overlap",
                        {{SwizzleSpan::k32, 16, 256}, false, 0},
                        {{SwizzleSpan::kNone, 16, stride}, false, 8192 + 48},
                        3,
                        true};
    RecordProduct<WgmmaType::kS8, 64>(c, &recorded);
    RecordProduct<WgmmaType::kS8, 224>(c, &recorded);
  }
  CompareOrWrite("wgmma_s8_overlap", recorded, "golden_wgmma_cases.hpp");
}
TEST(GoldenHopper, WgmmaOfMnMajorOperands) {
  if (const char* why = CannotRun({.min = 90, .exact = true})) GTEST_SKIP() << why;
  Recorded recorded;
  for (const uint32_t span : {0u, 32u, 64u, 128u}) {
    const auto swizzle = static_cast<SwizzleSpan>(span);
    // Leading and stride of which neither is implied by the other.
    const WgmmaLayout a = span == 0 ? WgmmaLayout{swizzle, 1280, 144}
                                    : WgmmaLayout{swizzle, span * 16 + 1024, span * 8};
    const WgmmaLayout b =
        span == 0 ? WgmmaLayout{swizzle, 3072, 160} : WgmmaLayout{swizzle, span * 16, span * 8};
    const WgmmaLayout k_major{SwizzleSpan::k32, 16, 256};
    using Type = WgmmaType;
    RecordProduct<Type::kF16, 64, 1>({"a", {a, true, 0}, {k_major, false, 8192}}, &recorded);
    RecordProduct<Type::kF16, 128, 2>({"b", {k_major, false, 0}, {b, true, 8192}}, &recorded);
    RecordProduct<Type::kBf16, 128, 3>({"both", {a, true, 0}, {b, true, 8192}}, &recorded);
  }
  CompareOrWrite("wgmma_mn_major", recorded, "golden_wgmma_cases.hpp");
}

}  // namespace
}  // namespace weft::arch::testing
