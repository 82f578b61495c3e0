// The kernels that make and compare tensors, on the CPU.
#include "perf/support/data_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "weft/gemm/arch/cpu_launch.hpp"

namespace weft::perf {
namespace {

constexpr int kBlocks = 2;
constexpr std::int64_t kCount = 2000;  // more than the threads of kBlocks blocks, and no multiple

TEST(FillKernel, MakesWhatTheHostMakes) {
  std::vector<std::int8_t> filled(kCount);
  const auto report =
      arch::LaunchOnCpu<FillPlanarKernel>({kBlocks, 1, 1}, {filled.data(), kCount, 9, kBlocks});
  ASSERT_TRUE(report.ok()) << report.error;
  EXPECT_EQ(filled, RandomInt8s(kCount, 9));
}

Differences Compare(const std::vector<std::int8_t>& got, const std::vector<std::int8_t>& want,
                    std::int64_t count = kCount) {
  std::vector<Differences> parts(kBlocks * DataKernel::kThreads);
  const auto report = arch::LaunchOnCpu<CompareKernel>(
      {kBlocks, 1, 1}, {got.data(), want.data(), count, parts.data(), kBlocks});
  EXPECT_TRUE(report.ok()) << report.error;
  Differences all;
  for (const Differences& part : parts) {
    all.count += part.count;
    all.largest = std::max(all.largest, part.largest);
  }
  return all;
}

TEST(CompareKernel, FindsEveryDifference) {
  const std::vector<std::int8_t> want = RandomInt8s(kCount, 3);
  std::vector<std::int8_t> got = want;
  EXPECT_EQ(Compare(got, want).count, 0);
  const auto change = [&](int i, int by) {
    got[i] = static_cast<std::int8_t>(got[i] > 0 ? got[i] - by : got[i] + by);
  };
  change(0, 1);
  change(kCount - 1, 100);
  EXPECT_EQ(Compare(got, want).count, 2);
  EXPECT_EQ(Compare(got, want).largest, 100);
  EXPECT_EQ(Compare(got, want, kCount - 1).count, 1);
}

// More packets than the threads of kBlocks blocks take at once, fewer on either side.
TEST(CopyKernel, CopiesWhatThereIs) {
  for (const auto& [reads, writes] : {std::pair(5000, 5000), {5001, 1}, {3, 4200}}) {
    std::vector<CopyKernel::Packet> src(reads), dst(writes + 1);
    for (int i = 0; i < reads; ++i) src[i] = {{1u + i, 2u, 3u, 4u}};
    dst[writes] = {{7, 7, 7, 7}};
    const CopyParams params{src.data(), dst.data(), reads, writes, kBlocks};
    const auto report =
        arch::LaunchOnCpu<CopyKernel>({kBlocks, 1, 1}, params, {}, {.dependent = true});
    ASSERT_TRUE(report.ok()) << report.error;
    for (int i = 0; i < writes; ++i) EXPECT_EQ(dst[i].word[0], i < reads ? 1u + i : 0u) << i;
    EXPECT_EQ(dst[writes].word[0], 7u);
  }
}

TEST(Dp4aKernel, Adds) {
  std::vector<std::int32_t> sink(Dp4aKernel::kThreads);
  // Byte-wise 1 * (1 + thread), so a dp4a adds 1 + 0 + 0 + (1 + thread) here.
  const auto report =
      arch::LaunchOnCpu<Dp4aKernel>({1, 1, 1}, {0x01000001u, 0x01000001u, 2, sink.data()});
  ASSERT_TRUE(report.ok()) << report.error;
  const int thread = 5;
  const int each = 2 * Dp4aKernel::kUnroll * (1 + 1 + thread);
  EXPECT_EQ(sink[thread], Dp4aKernel::kChains * (thread + each) + 28);
}

}  // namespace
}  // namespace weft::perf
