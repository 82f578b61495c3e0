// Every step of examples/ladder on the back end at hand, exactly.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "examples/ladder/steps.hpp"
#include "tests/operator_memory.hpp"

#if defined(WEFT_CUDA_BACKEND)
#include "weft/gemm/arch/cuda_launch.cuh"
#else
#include "tests/gemm/arch/harness.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"
#endif

namespace ladder {
namespace {

template <class Kernel>
void Run(const Product& product, int schedule) {
  typename Kernel::Params params{};
#if defined(WEFT_CUDA_BACKEND)
  (void)schedule;
  const arch::LaunchResult made = MakeParams<Kernel>(product, arch::EncodeTensorMap, &params);
  ASSERT_TRUE(made.ok()) << made.message;
  const auto result = arch::LaunchOnCuda<Kernel>(GridOf<Kernel>(product), params, nullptr);
  ASSERT_TRUE(result.ok()) << result.message;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  ASSERT_TRUE(MakeParams<Kernel>(product, arch::MakeCpuTensorMap, &params).ok());
  const auto all = arch::testing::AllSchedules();
  const arch::CpuReport report =
      arch::LaunchOnCpu<Kernel>(GridOf<Kernel>(product), params, all[schedule % all.size()]);
  ASSERT_EQ(report.error, "");
#endif
}

void CheckSteps(int m, int n, int k, int schedule) {
  ASSERT_EQ(Fault(m, n, k), "");
  std::mt19937 engine(m + n + k);
  const auto bytes = [&](int count) {
    std::vector<std::int8_t> v(count);
    for (auto& x : v) x = static_cast<std::int8_t>(engine() >> 24);
    return v;
  };
  const std::vector<std::int8_t> a = bytes(m * k), b = bytes(n * k);
  std::vector<std::int32_t> want(m * n);
  for (int i = 0; i < m * n; ++i) {
    for (int j = 0; j < k; ++j) want[i] += a[i / n * k + j] * b[i % n * k + j];
  }
  const weft::OperatorMemory<std::int8_t> on_a(a), on_b(b);
  for (int step = 0; step < kSteps; ++step) {
    VisitStep(step, [&]<class Kernel>(std::type_identity<Kernel>) {
      SCOPED_TRACE(testing::Message() << Kernel::kName << ", " << m << " x " << n << " x " << k);
      const weft::OperatorMemory<std::int32_t> on_c(std::vector<std::int32_t>(m * n, -1));
      Run<Kernel>(MakeProduct(on_a.get(), on_b.get(), on_c.get(), m, n, k), schedule + step);
      EXPECT_EQ(on_c.Read(), want);
    });
  }
}

TEST(Ladder, TilesOfAnyStep) {
  CheckSteps(128, 256, 128, 0);
}
TEST(Ladder, Smallest) {
  CheckSteps(1, 4, 16, 1);
}
TEST(Ladder, Ragged) {
  CheckSteps(129, 260, 80, 2);   // one row and one run beyond a tile; half a k tile of 32
  CheckSteps(61, 332, 336, 3);   // fewer rows than a tile; the last k tile of 128 is short
  CheckSteps(150, 36, 1040, 4);  // more k tiles than stages, and one of 16
}

}  // namespace
}  // namespace ladder
