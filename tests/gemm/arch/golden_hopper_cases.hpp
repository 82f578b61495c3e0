// Golden vectors of TMA's copies and of matrix stores (golden_hopper.hpp).
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/gemm/arch/golden_hopper.hpp"
#include "tests/gemm/arch/noise.hpp"
#include "tests/gemm/arch/run_hopper.hpp"

namespace weft::arch::testing {
namespace {

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
  CompareOrWrite(name, recorded, "golden_hopper_cases.hpp");
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
  CompareOrWrite("st_matrix", recorded, "golden_hopper_cases.hpp");
}

}  // namespace
}  // namespace weft::arch::testing
