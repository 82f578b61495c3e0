// The kernels that make and compare tensors, on the CPU.
#include "perf/support/data_kernels.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "weft/gemm/arch/cpu_launch.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr TensorExtents kExtents{2, 6, 5, 7};  // 6 channels do not fill two blocks of 4
constexpr int kBlocks = 2;

std::vector<std::int8_t> Blocked(const std::vector<std::int8_t>& planar) {
  return *ConvertTensor<NCHW, NCxHWx<4>, std::int8_t>(kExtents, planar);
}

TEST(FillKernels, MakeTheSameTensorInBothLayouts) {
  const std::vector<std::int8_t> want = RandomInt8s(NCHW::Size(kExtents), 9);
  std::vector<std::int8_t> planar(want.size());
  auto report = arch::LaunchOnCpu<FillPlanarKernel>(
      {kBlocks, 1, 1}, {planar.data(), static_cast<std::int64_t>(planar.size()), 9, kBlocks});
  ASSERT_TRUE(report.ok()) << report.error;
  EXPECT_EQ(planar, want);

  alignas(16) std::int8_t blocked[NCxHWx<4>::Size(kExtents)];
  report = arch::LaunchOnCpu<FillBlockedKernel>({kBlocks, 1, 1}, {blocked, kExtents, 9, kBlocks});
  ASSERT_TRUE(report.ok()) << report.error;
  EXPECT_EQ(std::vector<std::int8_t>(std::begin(blocked), std::end(blocked)), Blocked(want));
}

template <bool kBlocked>
Differences Compare(const std::vector<std::int8_t>& got, const std::vector<std::int8_t>& want) {
  std::vector<Differences> parts(kBlocks * DataKernel::kThreads);
  const auto report = arch::LaunchOnCpu<CompareKernel<kBlocked>>(
      {kBlocks, 1, 1}, {got.data(), want.data(), kExtents, parts.data(), kBlocks});
  EXPECT_TRUE(report.ok()) << report.error;
  Differences all;
  for (const Differences& part : parts) {
    all.count += part.count;
    all.largest = std::max(all.largest, part.largest);
  }
  return all;
}

TEST(CompareKernels, FindEveryDifference) {
  const std::vector<std::int8_t> planar = RandomInt8s(NCHW::Size(kExtents), 3);
  std::vector<std::int8_t> blocked = Blocked(planar);
  EXPECT_EQ(Compare<false>(blocked, planar).count, 0);
  EXPECT_EQ(Compare<true>(blocked, blocked).count, 0);

  const std::vector<std::int8_t> original = blocked;
  const auto change = [&](int n, int c, int h, int w, int by) {
    std::int8_t& x = blocked[NCxHWx<4>::Offset(kExtents, n, c, h, w)];
    x = static_cast<std::int8_t>(x > 0 ? x - by : x + by);
  };
  change(0, 0, 0, 0, 1);
  change(1, 5, 4, 6, 100);
  EXPECT_EQ(Compare<false>(blocked, planar).count, 2);
  EXPECT_EQ(Compare<false>(blocked, planar).largest, 100);
  EXPECT_EQ(Compare<true>(blocked, original).count, 2);
}

TEST(CompareKernels, SurplusChannelsMustBeZero) {
  const std::vector<std::int8_t> planar = RandomInt8s(NCHW::Size(kExtents), 3);
  std::vector<std::int8_t> blocked = Blocked(planar);
  blocked.back() = 7;  // channel 7 of 6
  EXPECT_EQ(Compare<false>(blocked, planar).count, 1);
  EXPECT_EQ(Compare<false>(blocked, planar).largest, 7);
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
