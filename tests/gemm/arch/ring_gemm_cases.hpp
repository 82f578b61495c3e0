// The ring product against plain sums, on the back end at hand.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/gemm/arch/noise.hpp"
#include "tests/gemm/arch/ring_gemm_kernel.hpp"
#include "tests/gemm/arch/run_hopper.hpp"

namespace weft::arch::testing {
namespace {

TensorMapSpec RowsOf(const void* base, int rows, int k, int box_rows) {
  return {.base = base,
          .stride = {static_cast<uint64_t>(k)},
          .dim = {static_cast<uint32_t>(k), static_cast<uint32_t>(rows)},
          .rank = 2,
          .element_bytes = 1,
          .swizzle = SwizzleSpan::k128,
          .box = {128, static_cast<uint16_t>(box_rows)}};
}

template <int kTileN>
void TestRingGemm(int m, int n, int k, int blocks, const std::vector<CpuWay>& ways) {
  using Kernel = RingGemmKernel<kTileN>;
  if (const char* why = CannotRun(Kernel::kRequires)) GTEST_SKIP() << why;
  SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k));
  const std::vector<uint32_t> in = Noise(51).Words((m + n) * k / 4);
  const auto* a = reinterpret_cast<const int8_t*>(in.data());
  const int8_t* b = a + m * k;
  std::vector<uint32_t> expected;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[j * k + l];
      expected.push_back(static_cast<uint32_t>(sum));
    }
  }
  const auto make = [&](const uint32_t* src, uint32_t* dst, typename Kernel::Params* params) {
    params->c = reinterpret_cast<int32_t*>(dst);
    params->m = m;
    params->n = n;
    params->k = k;
    params->blocks = blocks;
    return MakeMap(RowsOf(src, m, k, Kernel::kTileM), &params->a) &&
           MakeMap(RowsOf(src + m * k / 4, n, k, kTileN), &params->b);
  };
  for (const auto& out : RunWays<Kernel>(in, m * n, make, {blocks}, ways)) {
    EXPECT_EQ(out, expected);
  }
}

TEST(RingGemm, IsExactUnderEverySchedule) {
  TestRingGemm<96>(200, 120, 400, 3, AllWays());
}

TEST(RingGemm, WideTilesManyTiles) {
  TestRingGemm<256>(300, 700, 272, 2, FewWays());
  TestRingGemm<64>(64, 64, 16, 1, FewWays());
}

}  // namespace
}  // namespace weft::arch::testing
