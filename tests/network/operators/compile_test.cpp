// NVRTC compiles every kernel of network/operators, of parameters that lie there as g++ lays them out. No GPU is needed;
// without NVRTC the test is skipped.
#include <gtest/gtest.h>

#include "weft/network/operators/tensor_kernels.hpp"
#include "weft/rtc/gpu/kernels.hpp"

namespace weft::network {
namespace {

TEST(TensorKernelsTest, NvrtcCompilesEach) {
  const std::vector<rtc::KernelRecord> records = rtc::KernelsOf<TensorKernels>();
  const rtc::Kernels kernels({.include = "weft/network/operators/tensor_kernels.hpp",
                              .list = "weft::network::TensorKernels",
                              .records = records,
                              .cache = std::nullopt});
  for (int i = 0; i < static_cast<int>(records.size()); ++i) {
    const absl::Status s = kernels.Compile(i, 90);
    if (absl::IsNotFound(s)) GTEST_SKIP() << s;
    EXPECT_TRUE(s.ok()) << i << ": " << s;
  }
}

}  // namespace
}  // namespace weft::network
