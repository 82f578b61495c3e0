// Golden vectors of the primitives of sm_90 (see golden_cases.hpp for what they are). One file
// holds a group: `in` are the digests of what each case was given, `out` those of what it gave, so
// that a changed case is told from a changed answer. To make the files, on an H100 or H200:
//
//     WEFT_GOLDEN_WRITE=tests/gemm/arch/golden gpu_gemm_arch_golden_hopper_test
//
// Files that are still to be made stand in kAwaitingSilicon: their cases run, every way of running
// them has to agree, and the test is skipped, not passed, as there is nothing to compare with. A file
// that is not there and not in that list is a failure.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/gemm/arch/golden_run.hpp"
#include "tests/gemm/arch/run_hopper.hpp"
#include "tests/gemm/arch/wgmma_operands.hpp"

namespace weft::arch::testing {
namespace {

constexpr std::array<const char*, 0> kAwaitingSilicon = {};

// What a group of cases was given and gave.
struct Recorded {
  std::vector<uint32_t> in;
  std::vector<uint32_t> out;
};

// Sixteen digests of words, each of an equal share of them.
void AddDigests(const std::vector<uint32_t>& words, std::vector<uint32_t>* digests) {
  constexpr size_t kShares = 16;
  for (size_t share = 0; share < kShares; ++share) {
    uint32_t digest = 0x811C9DC5u;
    for (size_t i = share * words.size() / kShares; i < (share + 1) * words.size() / kShares; ++i) {
      digest = (digest ^ words[i]) * 0x01000193u;
      digest ^= digest >> 15;
    }
    digests->push_back(digest);
  }
}

// Every way of running gives the same; that is recorded.
void Record(const std::vector<uint32_t>& in, const std::vector<std::vector<uint32_t>>& outs,
            Recorded* recorded) {
  AddDigests(in, &recorded->in);
  for (const auto& out : outs) EXPECT_EQ(out, outs.front());
  AddDigests(outs.front(), &recorded->out);
}

void CompareOrWrite(const std::string& name, const Recorded& recorded) {
  const bool awaiting = std::find(std::begin(kAwaitingSilicon), std::end(kAwaitingSilicon), name) !=
                        std::end(kAwaitingSilicon);
  const std::filesystem::path path = GoldenPath(GoldenFolder(), name);
#if defined(WEFT_CUDA_BACKEND)
  if (const char* folder = std::getenv("WEFT_GOLDEN_WRITE")) {
    GoldenFile golden = DescribeMachine();
    golden.in = recorded.in;
    golden.out = recorded.out;
    ASSERT_TRUE(WriteGolden(GoldenPath(folder, name), name, golden, "golden_hopper_cases.hpp"))
        << GoldenPath(folder, name);
    return;
  }
#endif
  if (!std::filesystem::exists(path)) {
    ASSERT_TRUE(awaiting) << path << " is missing";
    GTEST_SKIP() << path
                 << " awaits silicon, so nothing was compared; record it on an H100 or H200 "
                 << "with WEFT_GOLDEN_WRITE";
  }
  EXPECT_FALSE(awaiting) << path << " exists: take " << name << " off kAwaitingSilicon";
  const GoldenFile golden = ReadGolden(path);
  ASSERT_FALSE(golden.device.empty() || golden.driver.empty()) << path << " is not a golden file";
  ASSERT_EQ(golden.in, recorded.in) << "the cases are not those of the file";
  EXPECT_EQ(golden.out, recorded.out);
}

// --- TMA
// -------------------------------------------------------------------------------------

void TestCopies(const std::string& name, bool (*belongs)(const CopyCase&)) {
  if (const char* why = CannotRun({.min = 90})) GTEST_SKIP() << why;
  const std::vector<uint32_t> tensor = Noise(21).Words(kTensorWords);
  Recorded recorded;
  for (const CopyCase& c : CopyCases()) {
    if (!belongs(c)) continue;
    SCOPED_TRACE(c.name);
    std::vector<uint32_t> in(c.name.begin(), c.name.end());
    in.insert(in.end(), c.coord, c.coord + 5);
    in.insert(in.end(), c.offset, c.offset + 3);
    in.insert(in.end(), {c.target, static_cast<uint32_t>(c.spec.Bytes())});
    Record(in, RunCopy(c, tensor), &recorded);
  }
  CompareOrWrite(name, recorded);
}

TEST(GoldenHopper, BulkLoad) {
  TestCopies("bulk_load", [](const CopyCase& c) { return c.kind == CopyKind::kBulk; });
}
TEST(GoldenHopper, TmaTiled) {
  TestCopies("tma_tiled",
             [](const CopyCase& c) { return c.kind == CopyKind::kTiled && !c.spec.interleave32; });
}
TEST(GoldenHopper, TmaInterleaved) {
  TestCopies("tma_interleaved", [](const CopyCase& c) { return c.spec.interleave32; });
}
TEST(GoldenHopper, TmaIm2col) {
  TestCopies("tma_im2col",
             [](const CopyCase& c) { return c.kind == CopyKind::kIm2col && !c.spec.interleave32; });
}

// --- Products
// ----------------------------------------------------------------------------------------

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
void TestEachN(const std::string& name, std::integer_sequence<int, N...>) {
  if (const char* why = CannotRun({.min = 90, .exact = true})) GTEST_SKIP() << why;
  Recorded recorded;
  int i = 0;
  (RecordProduct<kType, N>(ProductCases(N)[i++ % 8], &recorded), ...);
  CompareOrWrite(name, recorded);
}
// The same products with operand A in registers: their outputs are the same.
template <WgmmaType kType, int... N>
void TestRsOfEachN(const std::string& name, std::integer_sequence<int, N...>) {
  if (const char* why = CannotRun({.min = 90, .exact = true})) GTEST_SKIP() << why;
  Recorded recorded;
  int i = 0;
  (RecordProduct<kType, N, 0, WgmmaRsKernel<kType, N>>(ProductCases(N)[i++ % 8], &recorded), ...);
  CompareOrWrite(name, recorded);
}
template <WgmmaType kType, int... N>
void TestPlaced(const std::string& name) {
  if (const char* why = CannotRun({.min = 90, .exact = true})) GTEST_SKIP() << why;
  Recorded recorded;
  const auto all = [&](auto n) {
    for (const ProductCase& c : ProductCases(n())) RecordProduct<kType, n()>(c, &recorded);
  };
  (all(std::integral_constant<int, N>()), ...);
  CompareOrWrite(name, recorded);
}
using EveryN = std::integer_sequence<int, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176,
                                     192, 208, 224, 240, 256>;
using SeveralN = std::integer_sequence<int, 8, 96, 128, 256>;

TEST(GoldenHopper, WgmmaOfEveryN) {
  TestEachN<WgmmaType::kS8>("wgmma_s8_n", EveryN());
  TestEachN<WgmmaType::kF16>("wgmma_f16_n", EveryN());
  TestEachN<WgmmaType::kBf16>("wgmma_bf16_n", EveryN());
}
TEST(GoldenHopper, WgmmaOfOperandAInRegisters) {
  TestRsOfEachN<WgmmaType::kS8>("wgmma_s8_n", EveryN());
  TestRsOfEachN<WgmmaType::kS8U8>("wgmma_s8_u8_n", SeveralN());
  TestRsOfEachN<WgmmaType::kTf32>("wgmma_tf32_n", SeveralN());
}
TEST(GoldenHopper, WgmmaS8U8OfSeveralN) {
  TestEachN<WgmmaType::kS8U8>("wgmma_s8_u8_n", SeveralN());
}
TEST(GoldenHopper, WgmmaTf32OfSeveralN) {
  TestEachN<WgmmaType::kTf32>("wgmma_tf32_n", SeveralN());
}
TEST(GoldenHopper, WgmmaE4m3OfSeveralN) {
  TestEachN<WgmmaType::kE4m3>("wgmma_e4m3_n", SeveralN());
}
TEST(GoldenHopper, WgmmaE5m2OfSeveralN) {
  TestEachN<WgmmaType::kE5m2>("wgmma_e5m2_n", SeveralN());
}
TEST(GoldenHopper, WgmmaOfEveryPlacement) {
  TestPlaced<WgmmaType::kS8, 64, 208>("wgmma_s8_placed");
  TestPlaced<WgmmaType::kF16, 48>("wgmma_f16_placed");
  TestPlaced<WgmmaType::kBf16, 64>("wgmma_bf16_placed");
  TestPlaced<WgmmaType::kTf32, 24>("wgmma_tf32_placed");
  TestPlaced<WgmmaType::kE4m3, 32>("wgmma_e4m3_placed");
  TestPlaced<WgmmaType::kE5m2, 80>("wgmma_e5m2_placed");
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
  CompareOrWrite("wgmma_s8_overlap", recorded);
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
  CompareOrWrite("wgmma_mn_major", recorded);
}

// --- Matrix stores
// -----------------------------------------------------------------------------------

template <int kMatrices, bool kTransStore, bool kTransLoad>
void RecordStMatrix(Recorded* recorded) {
  const std::vector<uint32_t> in = Noise(43).Words(32 * 4);
  Record(in,
         RunWays<StMatrixKernel<kMatrices, kTransStore, kTransLoad>>(
             in, 128 + 32 * kMatrices,
             [](const uint32_t* src, uint32_t* dst, WordParams* params) {
               *params = {src, dst};
               return true;
             }),
         recorded);
}

TEST(GoldenHopper, StMatrix) {
  if (const char* why = CannotRun({.min = 90})) GTEST_SKIP() << why;
  Recorded recorded;
  RecordStMatrix<1, false, true>(&recorded);
  RecordStMatrix<2, false, false>(&recorded);
  RecordStMatrix<4, false, true>(&recorded);
  RecordStMatrix<1, true, false>(&recorded);
  RecordStMatrix<2, true, true>(&recorded);
  RecordStMatrix<4, true, false>(&recorded);
  CompareOrWrite("st_matrix", recorded);
}

}  // namespace
}  // namespace weft::arch::testing
